export { leafRule } from './options/leaf-options';
export { worstPart } from './runtime/health';
export { DEFAULT_SEGMENT_MODULE_OPTIONS } from './segment/segment.service';
export { DEFAULT_SNOWFLAKE_MODULE_OPTIONS, workerRangeOf } from './snowflake/snowflake-options';
export { LEAF_METRICS, type LeafFigures, metricsOf } from './metrics/leaf-metrics';
export { addMetrics, addReading, type Line, type Metric, type MetricReading } from './metrics/metric-set';
export { TagSeries } from './metrics/tag-series';
