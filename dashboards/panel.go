package dashboards

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/bargauge"
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/statetimeline"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
	"github.com/grafana/grafana-foundation-sdk/go/units"
)

// kind is a way to draw.
type kind int

const (
	graph  kind = iota // lines over time
	number             // one large number
	bars               // a bar for each series, as it is now
	list               // a table, as it is now
	states             // a band for each series, coloured by its value
)

// panel is a panel to be made.
type panel struct {
	kind          kind
	title, about  string
	unit          string
	queries       []query
	width, height uint32
	none          string // what to say when there is nothing to draw
	limits        []limit
	values        map[string]meaning // of states and other numbers that are codes
	ratio         bool               // the axis ends at 100 %
	floor         float64            // the axis reaches at least as far
	stacked       bool
	ranked        bool              // the legend has the worst first
	columns       []column          // of a table, in their order
	sort          string            // the column by which a table is sorted, largest first
	ascending     bool              // smallest first instead
	decimals      float64           // 0 leaves it to Grafana
	colors        map[string]string // of series by name, where they have a meaning
	below         string            // the colour below the first limit, else green
	links         []link            // of the panel
	dataLinks     []link            // of each series
}

// query is PromQL and what its series are called. In it `@port`, `@device` and
// `@node` stand for the selection made at the top of the dashboard.
type query struct {
	expr, legend string
	unit         string // where it is another than that of the panel
}

// ask is a query in the unit of its panel.
func ask(expr, legend string) query { return query{expr: expr, legend: legend} }

// limit is a value from which on something is not well.
type limit struct {
	from  float64
	color string
}

// meaning is what a number stands for.
type meaning struct{ text, color string }

// column is a column of a table: a label, or "Value" or, with several queries,
// "Value #A" and so on.
type column struct {
	field, title string
	unit         string
	width        float64
	limits       []limit
	values       map[string]meaning
	link         string // where a click on it leads
}

// link is where a click on a panel or a series leads.
type link struct{ title, url string }

// selection is what stands for the variables. Recorded series have no label
// cluster and are found by their node.
var selection = strings.NewReplacer(
	"@port", `cluster=~"$cluster",instance=~"$instance",device=~"$device",port=~"$port"`,
	"@device", `cluster=~"$cluster",instance=~"$instance",device=~"$device"`,
	"@node", `cluster=~"$cluster",instance=~"$instance"`,
	"@cluster", `cluster=~"$cluster"`,
	"@recorded", `instance=~"$instance",device=~"$device",port=~"$port"`,
)

// model makes the panel.
func (p panel) model() (dashboard.Panel, error) {
	m, err := p.drawing()
	if err != nil {
		return m, err
	}
	m.Title, m.Description = &p.title, &p.about
	m.Datasource = datasource()
	m.GridPos = &dashboard.GridPos{W: p.width, H: cmp.Or(p.height, 9)}
	m.Targets = p.targets()
	if m.FieldConfig == nil {
		m.FieldConfig = dashboard.NewFieldConfigSource()
	}
	p.defaults(&m.FieldConfig.Defaults)
	for i, q := range p.queries {
		if q.unit != "" {
			m.FieldConfig.Overrides = append(m.FieldConfig.Overrides, ofQuery(i, q.unit))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.colors)) {
		m.FieldConfig.Overrides = append(m.FieldConfig.Overrides, fixedColor(name, p.colors[name]))
	}
	for _, l := range p.links {
		m.Links = append(m.Links, dashboard.DashboardLink{Title: l.title, Url: &l.url, Type: dashboard.DashboardLinkTypeLink, Tags: []string{}, TargetBlank: true})
	}
	return m, nil
}

// fixedColor gives a series its colour.
func fixedColor(name, color string) dashboard.DashboardFieldConfigSourceOverrides {
	return dashboard.DashboardFieldConfigSourceOverrides{
		Matcher:    dashboard.MatcherConfig{Id: "byName", Options: name},
		Properties: []dashboard.DynamicConfigValue{{Id: "color", Value: map[string]any{"mode": "fixed", "fixedColor": color}}},
	}
}

// ofQuery gives the series of a query their unit, and with it an axis on which
// the limits are not drawn.
func ofQuery(i int, unit string) dashboard.DashboardFieldConfigSourceOverrides {
	return dashboard.DashboardFieldConfigSourceOverrides{
		Matcher: dashboard.MatcherConfig{Id: "byFrameRefID", Options: refID(i)},
		Properties: []dashboard.DynamicConfigValue{
			{Id: "unit", Value: unit},
			{Id: "custom.thresholdsStyle", Value: map[string]any{"mode": "off"}},
		},
	}
}

// refID is what Grafana calls a query.
func refID(i int) string { return string(rune('A' + i)) }

// drawing makes what is peculiar to a kind of panel.
func (p panel) drawing() (dashboard.Panel, error) {
	reduced := common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"})
	switch p.kind {
	case number:
		return stat.NewPanelBuilder().ReduceOptions(reduced).ColorMode(common.BigValueColorModeValue).
			GraphMode(common.BigValueGraphModeArea).Build()
	case bars:
		return bargauge.NewPanelBuilder().ReduceOptions(reduced).DisplayMode(common.BarGaugeDisplayModeBasic).
			Orientation(common.VizOrientationHorizontal).ValueMode(common.BarGaugeValueModeText).
			Sizing(common.BarGaugeSizingManual).MinVizHeight(16).MaxVizHeight(36).NamePlacement(common.BarGaugeNamePlacementTop).
			Text(common.NewVizTextDisplayOptionsBuilder().TitleSize(13).ValueSize(13)).Build()
	case list:
		return p.table()
	case states:
		return statetimeline.NewPanelBuilder().ShowValue(common.VisibilityModeNever).RowHeight(0.85).MergeValues(true).
			FillOpacity(80).LineWidth(0).Legend(p.legend()).Build()
	}
	return p.graph()
}

func (p panel) graph() (dashboard.Panel, error) {
	b := timeseries.NewPanelBuilder().
		LineWidth(1).FillOpacity(8).ShowPoints(common.VisibilityModeNever).
		Legend(p.legend()).
		Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeMulti).Sort(common.SortOrderDescending))
	b.AxisSoftMin(0)
	if reach := p.reach(); reach > 0 {
		b.AxisSoftMax(reach)
	}
	if p.ranked { // what is filled many times over is mud
		b.FillOpacity(0)
	}
	if p.stacked {
		b.FillOpacity(60).Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal).Group("A"))
	}
	if len(p.limits) > 0 {
		b.ThresholdsStyle(common.NewGraphThresholdsStyleConfigBuilder().Mode(common.GraphThresholdsStyleModeDashed))
	}
	return b.Build()
}

// reach is how far the axis goes at least, so that nothing but zeros does not
// look like a mountain range, and a limit is in sight.
func (p panel) reach() float64 {
	reach := p.floor
	for _, l := range p.limits {
		reach = max(reach, 1.2*l.from)
	}
	if reach == 0 && p.unit == units.PercentUnit {
		return 0.01
	}
	return reach
}

// legend lists the series. Where there may be many the worst stand first, and
// one scrolls for the others.
func (p panel) legend() *common.VizLegendOptionsBuilder {
	l := common.NewVizLegendOptionsBuilder().ShowLegend(true).Placement(common.LegendPlacementBottom)
	if !p.ranked {
		return l.DisplayMode(common.LegendDisplayModeList)
	}
	return l.DisplayMode(common.LegendDisplayModeTable).Calcs([]string{"max"}).SortBy("Max").SortDesc(true)
}

// targets are the queries: over time for what is drawn over time, else as of
// now.
func (p panel) targets() []variants.Dataquery {
	var all []variants.Dataquery
	for i, q := range p.queries {
		t := prometheus.Dataquery{
			RefId:        cog.ToPtr(refID(i)),
			Expr:         selection.Replace(q.expr),
			LegendFormat: &q.legend,
			EditorMode:   cog.ToPtr(prometheus.QueryEditorModeCode),
			Range:        cog.ToPtr(p.kind != bars && p.kind != list),
			Instant:      cog.ToPtr(p.kind == bars || p.kind == list),
			Datasource:   datasource(),
			Format:       cog.ToPtr(prometheus.PromQueryFormatTimeSeries),
		}
		if p.kind == list {
			t.Format = cog.ToPtr(prometheus.PromQueryFormatTable)
		}
		all = append(all, t)
	}
	return all
}

// defaults are the unit, the limits and the words of a panel.
func (p panel) defaults(d *dashboard.FieldConfig) {
	d.Unit, d.NoValue = &p.unit, &p.none
	if p.none == "" {
		d.NoValue = cog.ToPtr("No series: no card here counts this")
	}
	if p.decimals > 0 {
		d.Decimals = &p.decimals
	}
	if p.ratio {
		d.Max = cog.ToPtr(1.0)
	}
	if p.kind != list && p.kind != states {
		d.Min = cog.ToPtr(0.0)
	}
	d.Thresholds = thresholds(cmp.Or(p.below, green), p.limits)
	d.Mappings = mappings(p.values)
	for _, l := range p.dataLinks {
		d.Links = append(d.Links, dashboard.DashboardLink{Title: l.title, Url: &l.url, Type: dashboard.DashboardLinkTypeLink, Tags: []string{}})
	}
	switch p.kind {
	case graph:
		d.Color = &dashboard.FieldColor{Mode: dashboard.FieldColorModeIdPaletteClassic}
	default:
		d.Color = &dashboard.FieldColor{Mode: dashboard.FieldColorModeIdThresholds}
	}
}

// thresholds have a colour below the first limit, and one from each on.
func thresholds(below string, limits []limit) *dashboard.ThresholdsConfig {
	steps := []dashboard.Threshold{{Color: below}}
	for _, l := range limits {
		steps = append(steps, dashboard.Threshold{Value: &l.from, Color: l.color})
	}
	return &dashboard.ThresholdsConfig{Mode: dashboard.ThresholdsModeAbsolute, Steps: steps}
}

func mappings(values map[string]meaning) []dashboard.ValueMapping {
	if len(values) == 0 {
		return nil
	}
	m := dashboard.NewValueMap()
	for value, v := range values {
		m.Options[value] = dashboard.ValueMappingResult{Text: &v.text, Color: &v.color}
	}
	return []dashboard.ValueMapping{{ValueMap: m}}
}

const (
	green  = "green"
	blue   = "blue"
	yellow = "yellow"
	orange = "orange"
	red    = "red"
	purple = "purple"
	grey   = "text"
)

// table makes a table: what its queries have in common is one line, and of the
// labels only the columns are shown.
func (p panel) table() (dashboard.Panel, error) {
	b := table.NewPanelBuilder().ShowHeader(true).CellHeight(common.TableCellHeightSm)
	if p.sort != "" {
		b.SortBy([]cog.Builder[common.TableSortByFieldState]{common.NewTableSortByFieldStateBuilder().DisplayName(p.sort).Desc(!p.ascending)})
	}
	renamed, order := map[string]string{}, map[string]int{}
	for i, c := range p.columns {
		renamed[c.field], order[c.field] = c.title, i
		b.OverrideByName(c.title, c.properties())
	}
	if len(p.queries) > 1 {
		b.WithTransformation(dashboard.DataTransformerConfig{Id: "merge", Options: map[string]any{}})
	}
	names := make([]string, 0, len(p.columns))
	for _, c := range p.columns {
		names = append(names, c.field)
	}
	b.WithTransformation(dashboard.DataTransformerConfig{Id: "filterFieldsByName", Options: map[string]any{"include": map[string]any{"names": names}}})
	b.WithTransformation(dashboard.DataTransformerConfig{Id: "organize", Options: map[string]any{"renameByName": renamed, "indexByName": order}})
	return b.Build()
}

// properties are what a column has of its own.
func (c column) properties() []dashboard.DynamicConfigValue {
	properties := []dashboard.DynamicConfigValue{}
	set := func(id string, value any) {
		properties = append(properties, dashboard.DynamicConfigValue{Id: id, Value: value})
	}
	set("noValue", "-") // not what the whole table says when it is empty
	if c.unit != "" {
		set("unit", c.unit)
	}
	if c.width > 0 {
		set("custom.width", c.width)
	}
	if len(c.limits) > 0 {
		set("thresholds", thresholds(green, c.limits))
		set("custom.cellOptions", map[string]any{"type": "color-text"})
	}
	if len(c.values) > 0 {
		set("mappings", mappings(c.values))
		set("custom.cellOptions", map[string]any{"type": "color-text"})
	}
	if c.link != "" {
		set("links", []map[string]any{{"title": "Open", "url": c.link}})
	}
	return properties
}
