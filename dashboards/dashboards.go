// Package dashboards holds the Grafana dashboards of rdmawatch: as Go, one file
// each, and as the JSON made of them that is imported into Grafana.
package dashboards

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// Dashboard is a dashboard and the file that holds it.
type Dashboard struct {
	File  string
	Model dashboard.Dashboard
}

// All makes all dashboards.
func All() ([]Dashboard, error) {
	diagnosis, err := diagnosisBoard()
	if err != nil {
		return nil, err
	}
	var all []Dashboard
	for _, b := range []board{fleetBoard(), nodeBoard(), congestionBoard(), diagnosis, selfBoard()} {
		model, err := b.build()
		if err != nil {
			return nil, err
		}
		all = append(all, Dashboard{File: b.uid + ".json", Model: model})
	}
	return all, nil
}

// board is a dashboard to be made.
type board struct {
	uid, title, about string
	rows              []row
}

// row is a question, and the panels that answer it.
type row struct {
	title     string
	collapsed bool
	panels    []panel
}

// schemaVersion is the form of classic dashboards that Grafana reads from
// version 10.3 on; later ones convert it when they load it.
const schemaVersion = 39

// tag finds the dashboards of rdmawatch among others.
const tag = "rdmawatch"

func (b board) build() (dashboard.Dashboard, error) {
	d := dashboard.NewDashboardBuilder(b.title).
		Uid(b.uid).
		Description(b.about).
		Tags([]string{tag}).
		Timezone("browser").
		Tooltip(dashboard.DashboardCursorSyncCrosshair).
		Time("now-1h", "now").
		Refresh("1m").
		Link(dashboard.NewDashboardLinkBuilder("RDMA dashboards").
			Type(dashboard.DashboardLinkTypeDashboards).
			Tags([]string{tag}).
			IncludeVars(true).
			KeepTime(true))
	for _, v := range variables() {
		d.WithVariable(v)
	}
	b.place(d)
	model, err := d.Build()
	model.SchemaVersion = schemaVersion
	return model, err
}

// place puts rows and panels on the grid, numbered from the top.
func (b board) place(d *dashboard.DashboardBuilder) {
	id := uint32(0)
	next := func() uint32 { id++; return id }
	for _, r := range b.rows {
		made := dashboard.NewRowBuilder(r.title).Id(next()).Collapsed(r.collapsed)
		if r.collapsed { // Grafana keeps the panels of such a row inside of it
			for _, p := range r.panels {
				made.WithPanel(built{p, next()})
			}
		}
		d.WithRow(made)
		if !r.collapsed {
			for _, p := range r.panels {
				d.WithPanel(built{p, next()})
			}
		}
	}
}

// built is a panel with its number, as the SDK takes it.
type built struct {
	panel
	id uint32
}

// Build implements cog.Builder.
func (b built) Build() (dashboard.Panel, error) {
	p, err := b.model()
	p.Id = &b.id
	return p, err
}

// datasource is what every query goes to.
func datasource() *common.DataSourceRef {
	return &common.DataSourceRef{Type: cog.ToPtr("prometheus"), Uid: cog.ToPtr("${datasource}")}
}

// variables are those of every dashboard. All of them matches whatever there
// is, also series without the label, and asks for no list of ten thousand names.
func variables() []cog.Builder[dashboard.VariableModel] {
	all := []cog.Builder[dashboard.VariableModel]{
		dashboard.NewDatasourceVariableBuilder("datasource").Label("Data source").Type("prometheus"),
	}
	for _, v := range []struct{ name, label, series string }{
		{"cluster", "Cluster", "rdma_devices"},
		{"instance", "Node", `rdma_devices{cluster=~"$cluster"}`},
		{"device", "Device", `rdma_device_info{cluster=~"$cluster",instance=~"$instance"}`},
		{"port", "Port", `rdma_port_info{cluster=~"$cluster",instance=~"$instance",device=~"$device"}`},
	} {
		query := "label_values(" + v.series + ", " + v.name + ")"
		every := dashboard.StringOrArrayOfString{ArrayOfString: []string{"$__all"}}
		all = append(all, dashboard.NewQueryVariableBuilder(v.name).
			Label(v.label).
			Datasource(*datasource()).
			Definition(query).
			Query(dashboard.StringOrMap{Map: map[string]any{"query": query, "refId": v.name}}).
			Refresh(dashboard.VariableRefreshOnTimeRangeChanged).
			Sort(dashboard.VariableSortNaturalAsc).
			Multi(true).
			IncludeAll(true).
			AllValue(".*").
			Current(dashboard.VariableOption{Selected: cog.ToPtr(true), Text: dashboard.StringOrArrayOfString{ArrayOfString: []string{"All"}}, Value: every}))
	}
	return all
}
