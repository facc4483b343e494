import { flag, oneOf, text } from './parsers';
import { DEFAULT_SERVICE_NAME, otlpEndpoint, otlpHeaders, SAMPLERS, share } from './tracing';
import { variable } from './variable';

/** Of OpenTelemetry: checked here, and read by its SDK, as its other standard variables are. */
export const TRACING_VARIABLES = {
  OTEL_SDK_DISABLED: variable(false, flag, 'true: there are no traces'),
  OTEL_TRACES_EXPORTER: variable('otlp', oneOf('otlp', 'none'), 'otlp, or none: there are no traces'),
  OTEL_EXPORTER_OTLP_ENDPOINT: variable(
    undefined,
    otlpEndpoint,
    'where OpenTelemetry traces go, by OTLP over HTTP, as http://collector:4318; default: there are no traces',
    true,
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: variable(
    undefined,
    otlpEndpoint,
    'the same as a whole URL, path included; it wins',
    true,
  ),
  OTEL_EXPORTER_OTLP_HEADERS: variable(undefined, otlpHeaders, 'headers for it: key=value,key2=value2', true),
  OTEL_SERVICE_NAME: variable(DEFAULT_SERVICE_NAME, text(/^[^\0]+$/, 'a name'), 'service name in the traces'),
  OTEL_TRACES_SAMPLER: variable(
    'parentbased_always_on',
    oneOf(...SAMPLERS),
    'which traces: always_on, always_off, traceidratio, or one of these with parentbased_ before it, which asks the caller first',
  ),
  OTEL_TRACES_SAMPLER_ARG: variable(1, share, 'share of the traces for the samplers by ratio, 0 to 1'),
} as const;
