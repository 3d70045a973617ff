package collector

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/host"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// qosReader reads what decides into which class RDMA traffic falls and whether
// that class is lossless. Applications that set their own traffic class are not
// seen, nor the default of RDMA-CM: that is in configfs, in a directory that
// exists only after somebody made it.
type qosReader struct {
	door  *host.Door
	ports []*qosPort
}

// qosPort reads one interface.
type qosPort struct {
	t      *target
	p      *port
	known  settings
	hash   *node.Series // the last one
	pfc    [8]*node.Series
	tclass string    // file of the default traffic class, "" if there is none
	sleep  time.Time // until then the interface is not asked again
}

// settingsAge is how old settings may be. They change when somebody changes
// them.
const settingsAge = time.Minute

func openQoS(t *target, d *host.Door) reader {
	r := &qosReader{door: d}
	for _, p := range t.ports {
		if p.netdev == "" || !p.ethernet() || !p.physical || p.kind == "bond" {
			continue
		}
		q := &qosPort{t: t, p: p, known: newSettings(t, p)}
		if file := path.Join(t.path, "tc", p.number, "traffic_class"); p.onDevice && d.Exists(file) {
			q.tclass = file
		}
		for i := range q.pfc {
			q.pfc[i] = series(&catalog.ConfigPFCEnabled, t.name, p.number, strconv.Itoa(i))
		}
		r.ports = append(r.ports, q)
	}
	if len(r.ports) == 0 {
		return nil
	}
	return r
}

func (r *qosReader) read(b *batch) error {
	var failed []error
	for _, p := range r.ports {
		if err := p.read(r.door, b); err != nil {
			failed = append(failed, fmt.Errorf("settings of %s: %w", p.p.netdev, err))
		}
	}
	return errors.Join(failed...)
}

func (r *qosReader) close() {}

// read adds the settings and their hash. What failed to be read would make
// another hash, so that there is none then.
func (q *qosPort) read(d *host.Door, b *batch) error {
	var said strings.Builder
	say := func(setting, value string) {
		q.known.add(b, setting, value)
		said.WriteString(setting + "=" + value + "\n")
	}
	err := errors.Join(
		asleep(&q.sleep, b.now, func() error { return q.dcbSettings(d, b, say) }),
		q.trafficClass(d, say),
	)
	if err != nil || said.Len() == 0 {
		return err
	}
	sum := hashed(said.String())
	if q.hash == nil || q.hash.Values[2] != sum {
		q.hash = series(&catalog.ConfigHash, q.t.name, q.p.number, sum)
	}
	b.add(q.hash, 1)
	return nil
}

func hashed(text string) string {
	h := fnv.New64a()
	h.Write([]byte(text))
	return fmt.Sprintf("%016x", h.Sum64())
}

// asleep asks unless the machine did not know the answer a while ago.
func asleep(until *time.Time, now time.Time, ask func() error) error {
	if now.Before(*until) {
		return nil
	}
	err := ask()
	if errors.Is(err, fs.ErrNotExist) || host.NotOffered(err) || host.Denied(err) || errors.Is(err, host.ErrNoNetlink) {
		*until = now.Add(reprobeAfter)
		return nil
	}
	return err
}

func (q *qosPort) dcbSettings(d *host.Door, b *batch, say func(setting, value string)) error {
	dcb, err := d.DCB(q.p.netdev)
	if err != nil {
		return err
	}
	if dcb.PFC != nil {
		var on []string
		for i, enabled := range dcb.PFC {
			b.addBool(q.pfc[i], enabled)
			if enabled {
				on = append(on, strconv.Itoa(i))
			}
		}
		say("pfc", listed(on, ","))
	}
	if dcb.ETS != nil {
		say("ets", etsInWords(dcb.ETS))
	}
	if dcb.Buffers != nil {
		say("buffer", buffersInWords(dcb.Buffers))
	}
	say("dscp", dscpInWords(dcb.DSCP))
	return nil
}

// trafficClass reads the default traffic class that the out-of-tree driver of
// mlx5 has for queue pairs made through the kernel.
func (q *qosPort) trafficClass(d *host.Door, say func(setting, value string)) error {
	if q.tclass == "" {
		return nil
	}
	text, err := d.Read(q.tclass)
	if err == nil {
		say("traffic_class", trafficClassInWords(text))
	} else if errors.Is(err, fs.ErrNotExist) || host.NotOffered(err) || host.Denied(err) {
		err = nil
	}
	return err
}

// trafficClassInWords reads "Global tclass=106", which may be followed by rules
// for single peers. It is empty until somebody sets it.
func trafficClassInWords(text string) string {
	var words []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = printable(strings.TrimSpace(line)); line != "" {
			words = append(words, strings.TrimPrefix(line, "Global tclass="))
		}
	}
	if words == nil {
		return "unset"
	}
	return strings.Join(words, "; ")
}

func listed(words []string, separator string) string {
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, separator)
}

// etsInWords says of every class that has priorities which ones, how it is
// served, and with which share: "0:0,1,2,4,5,7 ets 50%; 3:3 ets 50%; 6:6 vendor".
func etsInWords(e *host.ETS) string {
	return grouped(e.Class[:], func(class int) string {
		if e.Algorithm[class] != "ets" {
			return e.Algorithm[class]
		}
		return fmt.Sprintf("ets %d%%", e.Percent[class])
	})
}

// buffersInWords says of every buffer in use which priorities it has, and its
// size: "0:0,1,2,4,5,6,7 130944; 1:3 130944".
func buffersInWords(v *host.Buffers) string {
	return grouped(v.Buffer[:], func(buffer int) string { return strconv.Itoa(int(v.Bytes[buffer])) })
}

// grouped lists the priorities by what they belong to, and a word about that.
func grouped(of []uint8, about func(group int) string) string {
	var words []string
	for group := range of {
		var members []string
		for priority, g := range of {
			if int(g) == group {
				members = append(members, strconv.Itoa(priority))
			}
		}
		if members != nil {
			words = append(words, fmt.Sprintf("%d:%s %s", group, strings.Join(members, ","), about(group)))
		}
	}
	return strings.Join(words, "; ")
}

// dscpInWords joins neighbours: "0-7:0 8-15:1 26:3".
func dscpInWords(table []host.DSCPPriority) string {
	var words []string
	for i := 0; i < len(table); {
		last := i
		for last+1 < len(table) && table[last+1].DSCP == table[last].DSCP+1 && table[last+1].Priority == table[i].Priority {
			last++
		}
		word := strconv.Itoa(int(table[i].DSCP))
		if last > i {
			word += "-" + strconv.Itoa(int(table[last].DSCP))
		}
		words = append(words, word+":"+strconv.Itoa(int(table[i].Priority)))
		i = last + 1
	}
	return listed(words, " ")
}

// settings are the series of what a port's settings say, which may change from
// one reading to the next. Of each setting only the last one is kept.
type settings struct {
	device, port string
	last         map[string]*node.Series
}

func newSettings(t *target, p *port) settings {
	return settings{t.name, p.number, map[string]*node.Series{}}
}

func (s settings) add(b *batch, setting, value string) {
	now := s.last[setting]
	if now == nil || now.Values[3] != value {
		now = series(&catalog.ConfigSetting, s.device, s.port, setting, value)
		s.last[setting] = now
	}
	b.add(now, 1)
}
