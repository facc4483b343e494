import { flag, oneOf, text } from './parsers';
import { DEFAULT_SERVICE_NAME, otlpEndpoint, otlpHeaders, SAMPLERS, share } from './tracing';
import { variable } from './variable';

/** Variables of OpenTelemetry: checked here, and read by its SDK. */
export const TRACING_VARIABLES = {
  OTEL_SDK_DISABLED: variable(false, flag, 'true disables traces'),
  OTEL_TRACES_EXPORTER: variable('otlp', oneOf('otlp', 'none'), 'otlp, or none to disable traces'),
  OTEL_EXPORTER_OTLP_ENDPOINT: variable(
    undefined,
    otlpEndpoint,
    'base URL of the OpenTelemetry collector (OTLP over HTTP), such as http://collector:4318; default: no traces',
    true,
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: variable(
    undefined,
    otlpEndpoint,
    'complete URL for traces, including the path; takes precedence',
    true,
  ),
  OTEL_EXPORTER_OTLP_HEADERS: variable(
    undefined,
    otlpHeaders,
    'headers for the collector: key=value,key2=value2',
    true,
  ),
  OTEL_SERVICE_NAME: variable(DEFAULT_SERVICE_NAME, text(/^[^\0]+$/, 'a name'), 'service name in traces'),
  OTEL_TRACES_SAMPLER: variable(
    'parentbased_always_on',
    oneOf(...SAMPLERS),
    'sampler: always_on, always_off or traceidratio; with the prefix parentbased_, the decision of the caller takes precedence',
  ),
  OTEL_TRACES_SAMPLER_ARG: variable(1, share, 'share of traces for the ratio samplers, 0 to 1'),
} as const;
