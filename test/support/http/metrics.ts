import { type Family, parseExposition } from './exposition';
import { until } from '../until';
import { text } from './http';

/** The metrics of a server by name, read after the call: scrapes within a quarter of a second share a text. */
export async function scrape(port: number): Promise<Map<string, Family>> {
  return parseExposition(await freshMetrics(port));
}

/** Each text counts the scrapes before it: the first one that differs was made after the call. */
export async function freshMetrics(port: number): Promise<string> {
  const shared = await text(port, '/metrics');
  return until('newer metrics', async () => {
    const next = await text(port, '/metrics');
    return next !== shared && next;
  });
}

/** What a server tells of a metric, of the sample with these labels among others; undefined when it says nothing. */
export async function metric(
  port: number,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number | undefined> {
  const samples = (await scrape(port)).get(name)?.samples ?? [];
  return samples.find((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
    ?.value;
}
