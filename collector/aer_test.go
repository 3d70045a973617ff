package collector

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/host"
)

// wantErrors compares the AER samples of a batch, "FUNCTION END SEVERITY ERROR
// COUNT".
func wantErrors(t *testing.T, b *batch, want ...string) {
	t.Helper()
	var got []string
	for _, s := range b.samples {
		if s.Series.Metric == &catalog.AERErrors {
			got = append(got, fmt.Sprintf("%s %.0f", strings.Join(s.Series.Values[1:], " "), s.Value))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got errors\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestParseAER(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []aerCount
	}{
		"short names of newer kernels": {
			"RxErr 2\nBadTLP 0\nBadDLLP 3\nRollover 5\nTimeout 7\nNonFatalErr 11\nCorrIntErr 13\nHeaderOF 17\nTOTAL_ERR_COR 41\n",
			[]aerCount{{"RxErr", 2}, {"BadTLP", 0}, {"BadDLLP", 3}, {"Rollover", 5}, {"Timeout", 7}, {"NonFatalErr", 11}, {"CorrIntErr", 13}, {"HeaderOF", 17}},
		},
		"names with blanks of older kernels": {
			"Receiver Error 2\nRELAY_NUM Rollover 3\nReplay Timer Timeout 5\nAdvisory Non-Fatal 7\nTOTAL_ERR_COR 17\n",
			[]aerCount{{"Receiver Error", 2}, {"RELAY_NUM Rollover", 3}, {"Replay Timer Timeout", 5}, {"Advisory Non-Fatal", 7}},
		},
		"totals of all severities":      {"TOTAL_ERR_COR 2\nTOTAL_ERR_NONFATAL 3\nTOTAL_ERR_FATAL 5\n", nil},
		"bit without a name":            {"HeaderOF 0\ndev_cor_errs_bit[9] 23\n", []aerCount{{"HeaderOF", 0}, {"dev_cor_errs_bit[9]", 23}}},
		"a name twice: the first":       {"DLP 2\nSDES 3\nDLP 5\n", []aerCount{{"DLP", 2}, {"SDES", 3}}},
		"a name twice, first no number": {"DLP x\nDLP 5\n", []aerCount{{"DLP", 5}}},
		"bad numbers cost their line":   {"A -4\nB 7\nC 0x10\nD 1.5\nE 18446744073709551616\nno number here\nF 11\n", []aerCount{{"B", 7}, {"F", 11}}},
		"largest number":                {"A 18446744073709551614\n", []aerCount{{"A", 1<<64 - 2}}},
		"no name":                       {" 5\n7\n\n", nil},
		"blanks around":                 {"  Bad TLP   9 \n", []aerCount{{"Bad TLP", 9}}},
		"tab between":                   {"RxErr\t9\n", []aerCount{{"RxErr", 9}}},
		"no newline at the end":         {"RxErr 1\nBadTLP 2", []aerCount{{"RxErr", 1}, {"BadTLP", 2}}},
		"bytes that are no text":        {"Rx\xffErr 3\nBad\x00TLP 5\n", []aerCount{{"Rx\uFFFDErr", 3}, {"Bad TLP", 5}}},
		"empty":                         {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := parseAER(c.text); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// Both ends of the NIC's link are read, each severity by itself.
func TestAER(t *testing.T) {
	const (
		up   = nicPath
		down = nicPath + "/0000:82:00.0"
		nic  = down + "/0000:83:00.0"
	)
	files := machine(pci{rootPort, amd, gen4x16}, pci{up, "0x1000", gen4x16}, pci{down, "0x1000", gen4x16}, pci{nic, mellanox, gen4x16})
	for path, text := range map[string]string{
		nic + "/aer_dev_correctable":             "RxErr 2\nBadTLP 3\nTOTAL_ERR_COR 4\n",
		nic + "/aer_dev_nonfatal":                "CmpltTO 5\nTOTAL_ERR_NONFATAL 5\n",
		nic + "/aer_dev_fatal":                   "DLP 7\nTOTAL_ERR_FATAL 7\n",
		down + "/aer_dev_correctable":            "RxErr 11\nTOTAL_ERR_COR 11\n",
		down + "/aer_dev_nonfatal":               "CmpltTO 0\nTOTAL_ERR_NONFATAL 0\n",
		down + "/aer_dev_fatal":                  "SDES 13\nTOTAL_ERR_FATAL 13\n",
		up + "/aer_dev_correctable":              "RxErr 17\n",
		rootPort + "/aer_dev_correctable":        "RxErr 19\n",
		rootPort + "/aer_rootport_total_err_cor": "23\n",
	} {
		files["sys/devices/"+path] = text
	}
	r, _ := pcieOf(t, files, "mlx5_0")
	for range 2 {
		b := &batch{}
		if err := r.read(b); err != nil {
			t.Error(err)
		}
		wantErrors(t, b,
			"0000:83:00.0 nic correctable RxErr 2", "0000:83:00.0 nic correctable BadTLP 3",
			"0000:83:00.0 nic nonfatal CmpltTO 5", "0000:83:00.0 nic fatal DLP 7",
			"0000:83:00.0 upstream correctable RxErr 11", "0000:83:00.0 upstream nonfatal CmpltTO 0", "0000:83:00.0 upstream fatal SDES 13")
	}
}

// A series is the same one in every reading.
func TestAERKeepsItsSeries(t *testing.T) {
	files := machine(pci{nicPath, mellanox, gen4x16})
	files["sys/devices/"+nicPath+"/aer_dev_fatal"] = "DLP 7\n"
	r, _ := pcieOf(t, files, "mlx5_0")
	first, second := &batch{}, &batch{}
	for _, b := range []*batch{first, second} {
		if err := r.read(b); err != nil {
			t.Error(err)
		}
	}
	for i := range first.samples {
		if first.samples[i].Series != second.samples[i].Series {
			t.Errorf("%v is new", second.samples[i].Series)
		}
	}
}

// What does not fit into a kernel page is cut; half a number is not a number.
func TestAERCut(t *testing.T) {
	long := strings.Repeat("A", host.MaxValue-len("RxErr 2\n")-len("\nB 12")-2) + " 3"
	files := machine(pci{nicPath, mellanox, gen4x16})
	files["sys/devices/"+nicPath+"/aer_dev_correctable"] = "RxErr 2\n" + long + "\nB 1234567\n"
	r, _ := pcieOf(t, files, "mlx5_0")
	b := &batch{}
	if err := r.read(b); err != nil {
		t.Error(err)
	}
	wantErrors(t, b, "0000:81:00.0 nic correctable RxErr 2", "0000:81:00.0 nic correctable "+strings.TrimSuffix(long, " 3")+" 3")
}

func FuzzParseAER(f *testing.F) {
	f.Add("RxErr 0\nBadTLP 1\nTOTAL_ERR_COR 1\n")
	f.Add("Receiver Error 2\nReplay Timer Timeout 3\n")
	f.Add("dev_cor_errs_bit[9] 23\n\n x\n -1\nA A A 5")
	f.Fuzz(func(t *testing.T, text string) {
		seen := map[string]bool{}
		for _, c := range parseAER(text) {
			if c.err == "" || c.err != printable(c.err) || strings.HasPrefix(c.err, "TOTAL_ERR_") || seen[c.err] {
				t.Errorf("%q gives %q", text, c.err)
			}
			seen[c.err] = true
		}
	})
}
