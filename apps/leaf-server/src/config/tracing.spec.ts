import { loadConfig, type LeafConfig } from './leaf-config';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

function tracing(env: NodeJS.ProcessEnv): LeafConfig['tracing'] {
  return loadConfig({ ...ENDPOINT, ...env }).tracing;
}

function fault(env: NodeJS.ProcessEnv): string {
  try {
    loadConfig(env);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('It was accepted.');
}

describe('the settings of traces', () => {
  it('have the defaults of OpenTelemetry', () => {
    expect(tracing({})).toEqual({
      url: 'http://collector:4318/v1/traces',
      headers: {},
      serviceName: 'leaf',
      sampler: 'parentbased_always_on',
      ratio: 1,
    });
    expect(loadConfig({}).tracing).toBeUndefined();
  });

  it('take the endpoint of traces as it is, and the other as what is before the path', () => {
    const own = 'https://collector/v2/all?key=1';
    expect(tracing({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own })?.url).toBe(own);
    expect(tracing({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector/otlp/' })?.url).toBe(
      'http://collector/otlp/v1/traces',
    );
  });

  it('decode headers', () => {
    const headers = { authorization: 'Bearer a=b,c', 'x-org': '' };
    expect(tracing({ OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20a=b%2Cc, x-org=' })?.headers).toEqual(headers);
  });

  it.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'grpc://secret@collector'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'authorization secret'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'authorization=%secret'],
    ['OTEL_TRACES_SAMPLER', 'jaeger_remote'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5'],
    ['OTEL_TRACES_SAMPLER_ARG', '-0.5'],
  ])('refuse %s=%s, and show no secret', (name, value) => {
    expect(fault({ [name]: value })).toMatch(new RegExp(`- ${name} must`));
    expect(fault({ [name]: value })).not.toContain('secret');
  });
});
