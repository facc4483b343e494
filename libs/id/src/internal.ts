export { worstOf } from './health';
export { LEAF_METRICS, type LeafFigures, metricsOf } from './metrics/leaf-metrics';
export { addMetrics, addReading, type Line, type Metric, type MetricReading } from './metrics/metric-set';
export { TagSeries } from './metrics/tag-series';
