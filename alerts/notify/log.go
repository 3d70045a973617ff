package notify

import (
	"github.com/go-kit/log"
	"github.com/go-kit/log/level"
)

// Log is a receiver that writes changes to the log.
type Log struct{ Logger log.Logger }

// Offer implements Receiver.
func (l Log) Offer(n Notice) {
	if n.Repeated {
		return
	}
	logger := level.Warn(l.Logger)
	if n.Status == Resolved {
		logger = level.Info(l.Logger)
	}
	logger.Log("msg", "alert", "status", n.Status, "alertname", n.Labels.Get("alertname"), "severity", n.Labels.Get("severity"),
		"device", n.Labels.Get("device"), "port", n.Labels.Get("port"), "summary", n.Annotations.Get("summary"))
}
