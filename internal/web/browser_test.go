package web_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// noBrowser is what to do where there is no Chromium.
const noBrowser = "Chromium is not installed, and these tests run a real one: make chromium (Debian: apt-get install chromium)"

// The browser is started once for all tests of the package; each has a tab, with its own cookies and cache.
var browser struct {
	once sync.Once
	ctx  context.Context
	stop []func()
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, stop := range browser.stop {
		stop()
	}
	os.Exit(code)
}

func startBrowser(t testing.TB) context.Context {
	t.Helper()
	browser.once.Do(func() {
		path, err := exec.LookPath("chromium")
		if err != nil {
			browser.err = fmt.Errorf("%s", noBrowser)
			return
		}
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU)
		alloc, stopAlloc := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, stop := chromedp.NewContext(alloc)
		browser.ctx, browser.stop = ctx, []func(){stop, stopAlloc}
		browser.err = chromedp.Do(ctx)
	})
	if browser.err != nil {
		t.Fatal(browser.err)
	}
	return browser.ctx
}

// A tab is a page in the browser. The test fails where the page writes an error to the console, throws, breaks the policy,
// or asks for anything outside of the site.
type tab struct {
	t   *testing.T
	ctx context.Context
	url string

	mu    sync.Mutex
	wrong []string
	allow string // a text that may stand in the console, of a fault that the test makes itself
}

// open opens a tab of a width, in the light or dark scheme.
func (s *site) open(t *testing.T, width int, dark bool) *tab {
	t.Helper()
	ctx, stop := chromedp.NewContext(startBrowser(t), chromedp.WithNewBrowserContext())
	tab := &tab{t: t, ctx: ctx, url: s.url}
	t.Cleanup(func() {
		tab.mu.Lock()
		for _, w := range tab.wrong {
			t.Error(w)
		}
		tab.mu.Unlock()
		stop()
	})
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	tab.do() // begins it
	if err := chromedp.Listen(ctx, tab.watch); err != nil {
		t.Fatal(err)
	}
	call(tab, network.Enable, network.EnableParams{})
	call(tab, log.Enable, cdp.Empty{})
	call(tab, runtime.Enable, cdp.Empty{})
	call(tab, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: int64(width), Height: 900, DeviceScaleFactor: 1, Mobile: width < 600})
	call(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	return tab
}

func (b *tab) watch(event any) {
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			b.note("console: %v", e.Args)
		}
	case *runtime.EventExceptionThrown:
		b.note("thrown: %s %v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception)
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			b.note("log: %s %s", e.Entry.Text, e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		u, err := url.Parse(e.Request.URL)
		if err != nil || "http://"+u.Host != b.url && u.Scheme != "about" {
			b.note("asked outside: %s", e.Request.URL)
		}
	case *network.EventLoadingFailed:
		if e.BlockedReason != "" {
			b.note("blocked: %s %s", e.BlockedReason, e.ErrorText)
		}
	}
}

func (b *tab) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.allow == "" || !strings.Contains(text, b.allow) {
		b.wrong = append(b.wrong, text)
	}
}

// patience is how long one step may take: a page that hangs fails here, and not the whole package.
const patience = 25 * time.Second

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, stop := b.ctx, func() {}
	if chromedp.FromContext(ctx).Target != nil { // the first step's context is that of the whole tab
		ctx, stop = context.WithTimeout(ctx, patience)
	}
	defer stop()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

func call[P, R any](b *tab, command cdp.Command[P, R], params P) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, command, params); err != nil {
		b.t.Fatal(err)
	}
}

// visit goes to a page and waits until it is whole.
func (b *tab) visit(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.url + path))
}

// eval gives the value of an expression.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, patience)
	defer stop()
	out, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return out
}

// wait waits until an expression is true, on this page or the one that it leads to.
func (b *tab) wait(expression string) {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, patience)
	defer stop()
	for ctx.Err() == nil {
		if ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+expression+")")); ok && err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	b.t.Fatalf("never came: %s\n%s", expression, eval[string](b, `location.href + "\n" + document.body.innerText`))
}

// click clicks on an element where it stands: on a page that changes by itself a mouse may come too late.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("document.querySelector(%q).click()", selector)))
}

// press sends keys to what has the focus.
func (b *tab) press(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		b.do(chromedp.KeyEvent(k))
	}
}

// shoot takes a picture of the whole page, where $LASTDROP_SCREENS names a folder for them.
func (b *tab) shoot(name string) {
	b.t.Helper()
	dir := os.Getenv("LASTDROP_SCREENS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600); err != nil {
		b.t.Fatal(err)
	}
}
