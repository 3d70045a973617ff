package host

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// ecnTree has every file that the out-of-tree mlx5 driver shows, each with a
// value of its own.
func ecnTree() (files tree, parameters map[string]uint64) {
	files = tree{
		"devices/pci0000:80/net/eth0/speed": "errno:EINVAL\n",
		"class/net/eth0":                    "-> ../../devices/pci0000:80/net/eth0",
		"class/net/eth1/":                   "",
	}
	const dir = "devices/pci0000:80/net/eth0/ecn/"
	for priority := range 8 {
		files[fmt.Sprint(dir, "roce_np/enable/", priority)] = fmt.Sprintln(priority % 2)
		files[fmt.Sprint(dir, "roce_rp/enable/", priority)] = fmt.Sprintln(priority / 4)
	}
	parameters = map[string]uint64{}
	primes := []uint64{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67}
	for i, file := range []string{
		"roce_np/min_time_between_cnps", "roce_np/cnp_dscp", "roce_np/cnp_802p_prio",
		"roce_rp/rpg_time_reset", "roce_rp/rpg_byte_reset", "roce_rp/rpg_threshold", "roce_rp/rpg_max_rate",
		"roce_rp/rpg_ai_rate", "roce_rp/rpg_hai_rate", "roce_rp/rpg_gd", "roce_rp/rpg_min_dec_fac", "roce_rp/rpg_min_rate",
		"roce_rp/rate_to_set_on_first_cnp", "roce_rp/dce_tcp_g", "roce_rp/dce_tcp_rtt", "roce_rp/rate_reduce_monitor_period",
		"roce_rp/initial_alpha_value",
	} {
		files[dir+file] = fmt.Sprintln(primes[i])
		parameters[filepath.Base(file)] = primes[i]
	}
	files[dir+"roce_rp/clamp_tgt_rate"] = "1\n"
	files[dir+"roce_rp/clamp_tgt_rate_after_time_inc"] = "1\n"
	parameters["clamp_tgt_rate"], parameters["clamp_tgt_rate_after_time_inc"] = 1, 1
	return files, parameters
}

const ecnDir = "devices/pci0000:80/net/eth0/ecn/"

func TestECN(t *testing.T) {
	files, want := ecnTree()
	d, _ := machine(t, files, nil)
	ecn, err := d.ECN("eth0")
	mustDo(t, err)
	if len(ecn.NotificationPoint) != 8 || len(ecn.ReactionPoint) != 8 {
		t.Errorf("priorities %v and %v", ecn.NotificationPoint, ecn.ReactionPoint)
	}
	for p := range 8 {
		if ecn.NotificationPoint[p] != (p%2 == 1) || ecn.ReactionPoint[p] != (p >= 4) {
			t.Errorf("priority %d: %v, %v", p, ecn.NotificationPoint[p], ecn.ReactionPoint[p])
		}
	}
	if !maps.Equal(ecn.Parameters, want) {
		t.Errorf("got %v, want %v", ecn.Parameters, want)
	}
	if len(want) != len(ecnParameters) {
		t.Errorf("%d parameters are tested of %d", len(want), len(ecnParameters))
	}
}

func TestECNWithoutTheDriver(t *testing.T) {
	files, _ := ecnTree()
	d, root := machine(t, files, nil)
	for _, name := range []string{"eth1", "eth2"} {
		if ecn, err := d.ECN(name); !errors.Is(err, fs.ErrNotExist) || ecn.Parameters != nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %+v, %v", name, ecn, err)
		}
	}
	if len(d.Errors) != 0 {
		t.Errorf("booked %v for what does not exist", d.Errors)
	}
	mustDo(t, os.RemoveAll(filepath.Join(root, ecnDir+"roce_rp")))
	if _, err := d.ECN("eth0"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("half of it: %v", err)
	}
}

// A zero is one only if the file says so: procfs gives zero for a file that is
// missing or cannot be read.
func TestECNZeros(t *testing.T) {
	files, want := ecnTree()
	files[ecnDir+"roce_rp/rate_to_set_on_first_cnp"] = "0\n"
	files[ecnDir+"roce_rp/clamp_tgt_rate"] = "0\n"
	files[ecnDir+"roce_rp/clamp_tgt_rate_after_time_inc"] = "0\n"
	delete(files, ecnDir+"roce_np/cnp_dscp")
	delete(files, ecnDir+"roce_rp/rpg_gd")
	delete(files, ecnDir+"roce_rp/rpg_max_rate")
	want["rate_to_set_on_first_cnp"], want["clamp_tgt_rate"], want["clamp_tgt_rate_after_time_inc"] = 0, 0, 0
	for _, missing := range []string{"cnp_dscp", "rpg_gd", "rpg_max_rate"} {
		delete(want, missing)
	}
	d, _ := machine(t, files, nil)
	if ecn, err := d.ECN("eth0"); err != nil || !maps.Equal(ecn.Parameters, want) {
		t.Errorf("got %v, want %v, %v", ecn.Parameters, want, err)
	}
}

// An empty file is how the driver says that its query failed; procfs takes a
// panic for it. One odd file costs that setting and nothing else.
func TestECNOddFiles(t *testing.T) {
	for _, c := range []struct{ name, file, content string }{
		{"empty parameter", "roce_np/cnp_dscp", ""},
		{"text", "roce_rp/rpg_gd", "unknown\n"},
		{"error of a fixture", "roce_rp/dce_tcp_g", "errno:EIO\n"},
		{"empty priority", "roce_np/enable/3", ""},
		{"priority neither on nor off", "roce_rp/enable/3", "7\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files, want := ecnTree()
			files[ecnDir+c.file] = c.content
			delete(want, path.Base(c.file))
			root := t.TempDir()
			for name, content := range files {
				tree{"sys/" + name: content}.write(t, root)
			}
			d := openHost(t, Config{Replay: root}, nil)
			ecn, err := d.ECN("eth0")
			if err != nil || !maps.Equal(ecn.Parameters, want) {
				t.Errorf("got %v, want %v, %v", ecn.Parameters, want, err)
			}
			_, np := ecn.NotificationPoint[3]
			_, rp := ecn.ReactionPoint[3]
			if np != (c.file != "roce_np/enable/3") || rp != (c.file != "roce_rp/enable/3") || len(ecn.NotificationPoint) < 7 {
				t.Errorf("notification point %v, reaction point %v", ecn.NotificationPoint, ecn.ReactionPoint)
			}
		})
	}
	// What procfs does not read costs nobody else.
	files, want := ecnTree()
	files[ecnDir+"roce_rp/rpg_max_rate"] = "fast\n"
	delete(want, "rpg_max_rate")
	d, _ := machine(t, files, nil)
	if ecn, err := d.ECN("eth0"); err != nil || !maps.Equal(ecn.Parameters, want) {
		t.Errorf("got %v, want %v, %v", ecn.Parameters, want, err)
	}
}

func TestECNStaysWithinTheTree(t *testing.T) {
	elsewhere := t.TempDir()
	tree{"secret": "1\n", "roce/enable/0": "1\n"}.write(t, elsewhere)
	for _, c := range []struct{ name, remove, link, target string }{
		{"all of it", "class/net/eth0", "class/net/eth0", "/sys/class/net/lo"},
		{"a point", ecnDir + "roce_np", ecnDir + "roce_np", elsewhere + "/roce"},
		{"a priority", ecnDir + "roce_np/enable/3", ecnDir + "roce_np/enable/3", elsewhere + "/secret"},
		{"a parameter", ecnDir + "roce_rp/rpg_gd", ecnDir + "roce_rp/rpg_gd", elsewhere + "/secret"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files, _ := ecnTree()
			d, root := machine(t, files, nil)
			mustDo(t, os.RemoveAll(filepath.Join(root, c.remove)))
			tree{c.link: "-> " + c.target}.write(t, root)
			ecn, err := d.ECN("eth0")
			if _, ok := ecn.Parameters["rpg_gd"]; ok || err == nil && c.name != "a parameter" {
				t.Errorf("%+v, %v", ecn, err)
			}
		})
	}
}
