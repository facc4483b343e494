import { type Family, parseExposition } from './exposition';
import { text } from './http';

/** All families that a server tells, by name. */
export async function scrape(port: number): Promise<Map<string, Family>> {
  return parseExposition(await text(port, '/metrics'));
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
