package replay

import "testing"

// Whatever a scenario holds, it is refused or has cases that can be played.
func FuzzParse(f *testing.F) {
	f.Add([]byte("cases:\n- name: a\n  node: cx6dx-mlx5-roce-5.15\n  changes:\n  - {at: 1m, path: sys/x, set: '1'}\n"))
	f.Add([]byte("common:\n- {from: 0s, to: 1m, path: a/b, add: 7}\ncases: [{name: a, node: b, interval: -1s, every: 1s}]\n"))
	f.Add([]byte("cases: [{}]"))
	f.Fuzz(func(t *testing.T, content []byte) {
		s, err := Parse(content)
		if err != nil {
			return
		}
		for _, c := range s.Cases {
			if c.Name == "" || c.Node == "" || c.Interval <= 0 || c.Duration <= 0 {
				t.Errorf("taken: %+v", c)
			}
		}
	})
}
