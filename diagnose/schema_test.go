package diagnose

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

// fields lists the JSON names of a type and of the types in it.
func fields(t reflect.Type, found map[string]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		fields(t.Elem(), found)
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			found[name] = true
			fields(t.Field(i).Type, found)
		}
	}
}

// SCHEMA.md explains every field.
func TestSchema(t *testing.T) {
	page, err := os.ReadFile("SCHEMA.md")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	fields(reflect.TypeFor[Report](), found)
	for name := range found {
		if name == "" || !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("field %q is not explained", name)
		}
	}
}

// A consumer of version 1 finds what it has always found. A name that is
// missing here is another version.
func TestVersion1(t *testing.T) {
	text, err := json.Marshal(sampleReport())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"version":1,"node":"gpu-17","time":"2026-05-01T03:12:07Z","window_seconds":10,"simulated":true,"short":true,"ports":[`,
		`{"device":"mlx5_0","port":"1","netdev":"ens1f0np0","state":"active","rate_bytes_per_second":12500000000,"pcie":{`,
		`"received_bytes_per_second":1250000000,"transmitted_bytes_per_second":0,"worst":{"severity":"warning","alert":"RDMAX"},"since_boot":[{`,
		`{"device":"mlx5_1","port":"","state":"stalled"}]`,
		`"findings":[{"alert":"RDMAX","severity":"warning","state":"firing","device":"mlx5_0","port":"1","labels":{"device":"mlx5_0","port":"1"},"where":["switch","peer"],"verdict":"mlx5_0 port 1 loses packets","explanation":"They are lost on the way.","since":"2026-05-01T03:12:06Z","asks_seconds":300,"evidence":[{"metric":"rdma_loss_events_total","labels":{"device":"mlx5_0","kind":"ack_timeout","port":"1"},"counter":true,"value":2705,"increase":301,"rate_per_second":30.1},`,
		`"limit":65535}],"causes":[{"text":"A switch drops them.","sides":["switch","peer"]},{"text":"Bad luck.","sides":[]}],"next":[{"do":"D=mlx5_0; cat`,
		`"healthy":"twice the same","sick":"grows"},`,
		`"silenced_by":"RDMAX"`,
		`"not_judged":[{"why":"looks back farther than 10s","alerts":["RDMALinkFlapping","Mine"]}],"unseen":[{"device":"mlx5_0","collector":"ethtool","why":"no permission"},`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	var back Report
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(&back, sampleReport()) {
		t.Errorf("error %v, read back %+v", err, back)
	}
}
