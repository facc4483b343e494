import type { Parser } from './parsers';

/** The names that the OpenTelemetry specification gives, without those that need packages of their own. */
export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** Where traces go, and which. */
export interface TracingConfig {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  readonly sampler: (typeof SAMPLERS)[number];
  /** Share of the traces, for the samplers that choose. */
  readonly ratio: number;
}

/** The values of the variables of OpenTelemetry. */
interface TracingValues {
  readonly OTEL_EXPORTER_OTLP_ENDPOINT?: string;
  readonly OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?: string;
  readonly OTEL_EXPORTER_OTLP_HEADERS?: Readonly<Record<string, string>>;
  readonly OTEL_SERVICE_NAME: string;
  readonly OTEL_TRACES_SAMPLER: TracingConfig['sampler'];
  readonly OTEL_TRACES_SAMPLER_ARG: number;
}

/** Undefined when no endpoint is named: there are no traces then. */
export function tracingOf(values: TracingValues): TracingConfig | undefined {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own } = values;
  const url = own ?? (base === undefined ? undefined : `${base.replace(/\/$/, '')}/v1/traces`);
  if (url === undefined) return undefined;
  return {
    url,
    headers: values.OTEL_EXPORTER_OTLP_HEADERS ?? {},
    serviceName: values.OTEL_SERVICE_NAME,
    sampler: values.OTEL_TRACES_SAMPLER,
    ratio: values.OTEL_TRACES_SAMPLER_ARG,
  };
}

export const otlpEndpoint: Parser<string> = (value) => {
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

export const share: Parser<number> = (value) => {
  const number = Number(value);
  if (!/^\d*\.?\d+$/.test(value) || number > 1) throw new Error('must be a number from 0 to 1');
  return number;
};
