import type * as Api from '@opentelemetry/api';
import type { Sampler, SpanExporter } from '@opentelemetry/sdk-trace-base';
import { LeafError } from '@leaf-ids/core';
import type { TracingConfig } from '../config/tracing';
import { serverVersion } from '../config/version';

const PACKAGES = ['api', 'sdk-trace-base', 'resources', 'exporter-trace-otlp-http'].map(
  (name) => `@opentelemetry/${name}`,
);
/** How long one delivery may take, repetitions included. */
const EXPORT_LIMIT_MS = 3000;

/** What is used of OpenTelemetry, for one server: nothing of it is registered for the process. */
export interface Sdk {
  readonly api: typeof Api;
  readonly tracer: Api.Tracer;
  /** Delivers what is left. */
  shutdown(): Promise<void>;
}

/**
 * Loads the packages, which nobody else does.
 *
 * @param onExport told of each delivery: undefined, or why it failed
 * @throws LeafError `LEAF_CONFIG_INVALID` when one is not installed
 */
export async function loadSdk(config: TracingConfig, onExport: (error: Error | undefined) => void): Promise<Sdk> {
  requirePackages(PACKAGES);
  const [api, sdk, { resourceFromAttributes }, { OTLPTraceExporter }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace-base'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/exporter-trace-otlp-http'),
  ]);
  const { url, headers, serviceName } = config;
  const exporter = new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis: EXPORT_LIMIT_MS });
  const version = serverVersion();
  const provider = new sdk.BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName, 'service.version': version }),
    sampler: samplerOf(config, sdk),
    spanProcessors: [new sdk.BatchSpanProcessor(watched(exporter, onExport))],
  });
  return { api, tracer: provider.getTracer('leaf-server', version), shutdown: () => provider.shutdown() };
}

/** @throws LeafError `LEAF_CONFIG_INVALID` when one of them is not installed */
export function requirePackages(names: readonly string[]): void {
  for (const name of names) {
    try {
      require.resolve(name);
    } catch (error) {
      throw new LeafError(
        'LEAF_CONFIG_INVALID',
        `Traces need the package ${name}, which cannot be loaded: npm install ${names.join(' ')}. Or do without: take OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_EXPORTER_OTLP_TRACES_ENDPOINT away.`,
        { cause: error },
      );
    }
  }
}

function samplerOf(
  { sampler, ratio }: TracingConfig,
  sdk: Pick<
    typeof import('@opentelemetry/sdk-trace-base'),
    'AlwaysOnSampler' | 'AlwaysOffSampler' | 'TraceIdRatioBasedSampler' | 'ParentBasedSampler'
  >,
): Sampler {
  switch (sampler) {
    case 'always_on':
      return new sdk.AlwaysOnSampler();
    case 'always_off':
      return new sdk.AlwaysOffSampler();
    case 'traceidratio':
      return new sdk.TraceIdRatioBasedSampler(ratio);
    case 'parentbased_always_on':
      return new sdk.ParentBasedSampler({ root: new sdk.AlwaysOnSampler() });
    case 'parentbased_always_off':
      return new sdk.ParentBasedSampler({ root: new sdk.AlwaysOffSampler() });
    case 'parentbased_traceidratio':
      return new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(ratio) });
  }
}

function watched(exporter: SpanExporter, onExport: (error: Error | undefined) => void): SpanExporter {
  return {
    export: (spans, done) => {
      exporter.export(spans, (result) => {
        onExport(result.error);
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
}
