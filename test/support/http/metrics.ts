import { type Family, parseExposition } from './exposition';
import { until } from '../until';
import { text } from './http';

/** The metric families of a server by name, of a scrape after the call: a text is shared for 250 ms. */
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

/** Value of the first sample of a metric that has at least these labels; undefined if there is none. */
export async function metric(
  port: number,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number | undefined> {
  const samples = (await scrape(port)).get(name)?.samples ?? [];
  return samples.find((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
    ?.value;
}
