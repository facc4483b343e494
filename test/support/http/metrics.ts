import { type Family, parseExposition } from './exposition';
import { text } from './http';

/** All metric families of a server, by name. */
export async function scrape(port: number): Promise<Map<string, Family>> {
  return parseExposition(await text(port, '/metrics'));
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
