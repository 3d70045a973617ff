// Package browser looks at the pages with Chromium: that they say what they
// should, that the console stays empty, that nothing is wider than a phone, and
// that they change without being loaded anew.
package browser

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// tab is a page in a browser. What the console says fails the test.
type tab struct {
	t   *testing.T
	ctx context.Context
}

func open(t *testing.T) *tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox) // in a container there is none
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, patient)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &tab{t, ctx}
	b.do(chromedp.Navigate("about:blank"))
	messages := chromedp.Console(ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return // the browser is closed
			}
			t.Errorf("console: %s: %s %s", m.Type, m.Text, m.URL)
		}
	}()
	return b
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// until waits for an expression to be true; it is looked at whenever the page
// is painted. While another page is loading there is nothing to ask.
func (b *tab) until(expression string) {
	b.t.Helper()
	painted := fmt.Sprintf("new Promise(done => requestAnimationFrame(() => done(Boolean(%s))))", expression)
	for {
		is, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](painted, chromedp.EvalAwaitPromise))
		if is {
			return
		}
		if b.ctx.Err() != nil {
			b.t.Fatalf("waiting for %s: %v", expression, err)
		}
	}
}

// shot writes what the page looks like in light and dark, on a desk and on
// phones, and checks that nothing sticks out.
func (b *tab) shot(name string) {
	b.t.Helper()
	dir := os.Getenv("SCREENSHOTS")
	if dir == "" {
		dir = "../../build/screenshots"
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.t.Fatal(err)
	}
	for _, view := range []struct {
		width  int64
		scheme string
	}{{1280, "light"}, {1280, "dark"}, {390, "light"}, {320, "dark"}} {
		scheme := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: view.scheme}}}
		if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, scheme); err != nil {
			b.t.Fatal(err)
		}
		b.do(chromedp.EmulateViewport(view.width, 900))
		if wide := eval[int64](b, "document.documentElement.scrollWidth"); wide > view.width {
			b.t.Errorf("%s: %d pixels wide on a screen of %d", name, wide, view.width)
		}
		picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
		if err != nil {
			b.t.Fatal(err)
		}
		file := filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", name, view.width, view.scheme))
		if err := os.WriteFile(file, picture, 0o644); err != nil {
			b.t.Fatal(err)
		}
	}
}

func (b *tab) has(wanted ...string) {
	b.t.Helper()
	text := eval[string](b, "document.body.textContent")
	for _, w := range wanted {
		if !strings.Contains(text, w) {
			b.t.Errorf("the page lacks %q", w)
		}
	}
}

// A fault comes and goes while somebody looks: the page follows without being
// loaded again, and what was unfolded stays so.
func TestStatus(t *testing.T) {
	m, b := serve(t), open(t)
	b.do(chromedp.Navigate("http://" + m.address + "/"))
	b.until(`document.title === "Nothing found · node-7"`)
	b.has("Simulated", "mlx5_0", "mlx5_1", "enp65s0f0np0", "100\u00a0Gb/s", "None has fired")
	b.shot("status-healthy")
	eval[bool](b, `window.loadedOnce = document.querySelector("#collectors").open = true`)

	m.port("1: DOWN")
	b.until(`document.title.startsWith("1 critical")`)
	b.has(`mlx5_0 is down <script>document.title = "owned"</script><img src=x`, "Cable pulled", "healthy 4: ACTIVE", "firing")
	if n := eval[int](b, `document.scripts.length + document.images.length + document.querySelectorAll("[href^=javascript]").length`); n != 1 {
		t.Errorf("%d scripts and pictures, want the one script", n)
	}
	if !eval[bool](b, `window.loadedOnce && document.querySelector("#collectors").open`) {
		t.Error("the page was loaded anew, or what was unfolded is folded")
	}
	eval[bool](b, `document.querySelector(".finding").open = false; document.querySelector(".ports .worst a").click(); true`)
	b.until(`document.querySelector(".finding").open && location.hash.startsWith("#finding-RDMAPortDown")`)
	b.shot("status-findings")

	m.port("4: ACTIVE")
	b.until(`document.title.startsWith("Nothing")`)
	b.until(`!document.querySelector(".finding.critical") && document.querySelector("#events").textContent.includes("after")`)
}

// With the reading standing still the page says so.
func TestNoAnswer(t *testing.T) {
	m, b := serve(t), open(t)
	b.do(chromedp.Navigate("http://" + m.address + "/"))
	b.until(`document.title.startsWith("Nothing")`)
	eval[bool](b, `window.fetch = () => Promise.reject(new Error("gone")); true`)
	b.until(`document.querySelector("#fresh.old")?.textContent.includes("does not answer")`)
}

func TestRules(t *testing.T) {
	m, b := serve(t), open(t)
	m.port("1: DOWN")
	b.do(chromedp.Navigate("http://" + m.address + "/alerts"))
	b.until(`document.querySelector(".rule .state").textContent === "firing"`)
	b.has("rdma_port_state == 1", "RDMALinkFlapping", "evaluated")
	eval[bool](b, `document.querySelector(".rule").open = true`)
	b.shot("rules")
}

func TestRunbooks(t *testing.T) {
	m, b := serve(t), open(t)
	b.do(chromedp.Navigate("http://" + m.address + "/runbooks/"))
	b.has("RDMAPFCStorm")
	b.shot("runbooks")
	b.do(chromedp.Navigate("http://" + m.address + "/runbooks/RDMAPFCStorm"))
	b.has("Meaning", "On this node", "Mitigation")
	b.shot("runbook")
	b.do(chromedp.Click(chromedp.CSS("nav a")), chromedp.WaitVisible(chromedp.CSS("#verdict")))
}

func TestWithoutAlerting(t *testing.T) {
	m, b := serve(t, "--no-alerting.enabled"), open(t)
	b.do(chromedp.Navigate("http://" + m.address + "/"))
	b.has("Not judged", "mlx5_1")
	b.shot("status-no-alerting")
}
