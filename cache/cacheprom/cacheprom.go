// Package cacheprom exports the statistics of caches to Prometheus. It does no work per read: a
// scrape reads the counters.
//
//	prometheus.MustRegister(cacheprom.New(posts, users))
//
// All metrics begin with cache_ and have the label cache, which is Options.Name. Two caches of one
// collector need different names, or a scrape fails.
package cacheprom

import (
	"github.com/prometheus/client_golang/prometheus"

	"example.com/quire/cache"
)

// Source is what has statistics: any *cache.Cache.
type Source interface{ Stats() cache.Stats }

// Collector is a prometheus.Collector. It is safe for concurrent use.
type Collector struct {
	sources     []Source
	metrics     []metric
	propagation *prometheus.Desc
}

type metric struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(*cache.Stats) float64
}

// New returns a collector for sources.
func New(sources ...Source) *Collector {
	c := &Collector{sources: sources}
	add := func(kind prometheus.ValueType, name, help string, of func(*cache.Stats) float64) {
		desc := prometheus.NewDesc("cache_"+name, help, []string{"cache"}, nil)
		c.metrics = append(c.metrics, metric{desc: desc, kind: kind, of: of})
	}
	count := func(name, help string, of func(*cache.Stats) uint64) {
		add(prometheus.CounterValue, name, help, func(s *cache.Stats) float64 { return float64(of(s)) })
	}
	gauge := func(name, help string, of func(*cache.Stats) int64) {
		add(prometheus.GaugeValue, name, help, func(s *cache.Stats) float64 { return float64(of(s)) })
	}
	gauge("entries", "Entries held.", func(s *cache.Stats) int64 { return s.Entries })
	gauge("bytes", "Bytes held: keys, values and overhead.", func(s *cache.Stats) int64 { return s.Bytes })
	count("hits_total", "Reads answered without waiting for a load.", func(s *cache.Stats) uint64 { return s.Hits })
	count("misses_total", "All other reads.", func(s *cache.Stats) uint64 { return s.Misses })
	count("stale_hits_total", "Hits that returned a stale value.", func(s *cache.Stats) uint64 { return s.StaleHits })
	count("negative_hits_total", "Hits that returned a remembered error.", func(s *cache.Stats) uint64 { return s.NegativeHits })
	count("loads_total", "Loads begun, one for each key.", func(s *cache.Stats) uint64 { return s.Loads })
	count("refreshes_total", "Loads begun in the background by a hit.", func(s *cache.Stats) uint64 { return s.Refreshes })
	count("load_failures_total", "Loads that failed.", func(s *cache.Stats) uint64 { return s.LoadFailures })
	count("overtaken_loads_total", "Loads whose result was not kept because of a later write.", func(s *cache.Stats) uint64 { return s.Overtaken })
	gauge("loading", "Loaders that run within their time.", func(s *cache.Stats) int64 { return s.Loading })
	gauge("abandoned_loaders", "Loaders that run beyond their time.", func(s *cache.Stats) int64 { return s.Abandoned })
	count("sets_total", "Values set.", func(s *cache.Stats) uint64 { return s.Sets })
	count("deletes_total", "Keys deleted.", func(s *cache.Stats) uint64 { return s.Deletes })
	count("clears_total", "Times that all entries were dropped.", func(s *cache.Stats) uint64 { return s.Clears })
	count("invalidations_total", "Times that entries were dropped by tag.", func(s *cache.Stats) uint64 { return s.Invalidations })
	count("refused_total", "Values too large to be held.", func(s *cache.Stats) uint64 { return s.Refused })
	count("remote_hits_total", "Keys for which the remote had a record in use.", func(s *cache.Stats) uint64 { return s.RemoteHits })
	count("remote_misses_total", "Keys for which it had none.", func(s *cache.Stats) uint64 { return s.RemoteMisses })
	count("remote_failures_total", "Calls of the remote that failed.", func(s *cache.Stats) uint64 { return s.RemoteFailures })
	count("revalidated_total", "Entries found unchanged in the remote.", func(s *cache.Stats) uint64 { return s.Revalidated })
	count("pushed_total", "Values held that came from other nodes.", func(s *cache.Stats) uint64 { return s.Pushed })
	count("malformed_total", "Values from the remote that could not be read.", func(s *cache.Stats) uint64 { return s.Malformed })
	count("link_breaks_total", "Times that the link to the remote went down.", func(s *cache.Stats) uint64 { return s.LinkBreaks })
	count("evictions_total", "Entries dropped for lack of room.", func(s *cache.Stats) uint64 { return s.Evictions })
	count("expirations_total", "Entries dropped at the end of their life.", func(s *cache.Stats) uint64 { return s.Expirations })
	count("compared_hits_total", "Hits that were compared with the remote.", func(s *cache.Stats) uint64 { return s.Compared })
	count("stale_reads_total", "Those of them whose value had been replaced before.", func(s *cache.Stats) uint64 { return s.Outdated })
	add(prometheus.GaugeValue, "worst_staleness_seconds", "How long before, of the worst.", func(s *cache.Stats) float64 { return s.WorstStaleness.Seconds() })
	c.propagation = prometheus.NewDesc("cache_propagation_seconds", "Time between writes of other nodes and their notices here.", []string{"cache"}, nil)
	return c
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, m := range c.metrics {
		ch <- m.desc
	}
	ch <- c.propagation
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	for _, source := range c.sources {
		s := source.Stats()
		for _, m := range c.metrics {
			ch <- prometheus.MustNewConstMetric(m.desc, m.kind, m.of(&s), s.Name)
		}
		h, below, all := s.Propagation, map[float64]uint64{}, uint64(0)
		for i, n := range h.Buckets[:len(h.Buckets)-1] {
			all += n
			below[h.Upper(i).Seconds()] = all
		}
		ch <- prometheus.MustNewConstHistogram(c.propagation, h.Count(), h.Sum.Seconds(), below, s.Name)
	}
}
