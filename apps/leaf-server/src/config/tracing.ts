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
  readonly OTEL_EXPORTER_OTLP_ENDPOINT?: string;
  readonly OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?: string;
}

/** Undefined when no endpoint is named, or traces are switched off. */
export function tracingOf(values: TracingValues): TracingConfig | undefined {
  const url = values.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? values.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (url === undefined || values.OTEL_SDK_DISABLED || values.OTEL_TRACES_EXPORTER === 'none') return undefined;
  return { collector: new URL(url).host };
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
