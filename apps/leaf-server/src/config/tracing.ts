import { flag, oneOf, type Parser, text, variable } from './parsers';

/** The names that the OpenTelemetry specification gives, without those that need packages of their own. */
const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export const DEFAULT_SERVICE_NAME = 'leaf';

/** Enables traces; the OpenTelemetry SDK reads the rest from its standard variables. */
export interface TracingConfig {
  /** Host and port of the collector, for the log. */
  readonly collector: string;
}

/** The values that decide whether there are traces. */
interface TracingValues {
  readonly OTEL_SDK_DISABLED: boolean;
  readonly OTEL_TRACES_EXPORTER: 'otlp' | 'none';
  readonly OTEL_EXPORTER_OTLP_ENDPOINT: string | undefined;
  readonly OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: string | undefined;
}

/** Undefined when no endpoint is named, or traces are switched off. */
export function tracingOf(values: TracingValues): TracingConfig | undefined {
  const url = values.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? values.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (url === undefined || values.OTEL_SDK_DISABLED || values.OTEL_TRACES_EXPORTER === 'none') return undefined;
  return { collector: new URL(url).host };
}

const otlpEndpoint: Parser<string> = (value) => {
  if (!/^https?:\/\//.test(value) || !URL.canParse(value)) throw new Error('must be a URL, http or https');
  return value;
};

/** `key=value,key2=value2`, percent-encoded where need be. */
export const otlpHeaders: Parser<Record<string, string>> = (value) => {
  const pairs = value.split(',').map((pair) => /^\s*([\w.-]+)\s*=(.*)$/.exec(pair));
  const headers: Record<string, string> = {};
  for (const pair of pairs) {
    if (pair === null) throw new Error('must be pairs key=value, separated by commas');
    headers[(pair[1] as string).toLowerCase()] = decoded((pair[2] as string).trim());
  }
  return headers;
};

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error('must have values in valid percent-encoding');
  }
}

const share: Parser<number> = (value) => {
  const number = Number(value);
  if (!/^\d*\.?\d+$/.test(value) || number > 1) throw new Error('must be a number from 0 to 1');
  return number;
};

/** Variables of OpenTelemetry: checked here, and read by its SDK. */
export const TRACING_VARIABLES = {
  OTEL_SDK_DISABLED: variable(false, flag, 'true disables traces'),
  OTEL_TRACES_EXPORTER: variable('otlp', oneOf('otlp', 'none'), 'otlp, or none to disable traces'),
  OTEL_EXPORTER_OTLP_ENDPOINT: variable(
    undefined,
    otlpEndpoint,
    'base URL of the OpenTelemetry collector (OTLP over HTTP), such as http://collector:4318; default: no traces',
    { secret: true },
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: variable(
    undefined,
    otlpEndpoint,
    'complete URL for traces, including the path; takes precedence',
    { secret: true },
  ),
  OTEL_EXPORTER_OTLP_HEADERS: variable(undefined, otlpHeaders, 'headers for the collector: key=value,key2=value2', {
    secret: true,
  }),
  OTEL_SERVICE_NAME: variable(DEFAULT_SERVICE_NAME, text(/^[^\0]+$/, 'a name'), 'service name in traces'),
  OTEL_TRACES_SAMPLER: variable(
    'parentbased_always_on',
    oneOf(...SAMPLERS),
    'sampler: always_on, always_off or traceidratio; with the prefix parentbased_, the decision of the caller takes precedence',
  ),
  OTEL_TRACES_SAMPLER_ARG: variable(1, share, 'share of traces for the ratio samplers, 0 to 1'),
} as const;
