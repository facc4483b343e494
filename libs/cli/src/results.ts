import { type IdRange, type SnowflakeParts } from '@leaf-ids/core';
import { table, type TagJson, visible } from '@leaf-ids/core/internal';
import type { Result, TagList } from './source';

/** @param facts what the JSON value has beside the IDs */
export function idList(ids: readonly bigint[], facts: object = {}): Result {
  const texts = ids.map(String);
  return { text: texts.join('\n'), json: { ...facts, ids: texts } };
}

export function textList(tag: string, texts: readonly string[]): Result {
  return { text: texts.map(visible).join('\n'), json: { tag, texts } };
}

export function rangeList(tag: string, found: readonly IdRange[]): Result {
  const ranges = found.map(({ from, to }) => ({ from: String(from), to: String(to) }));
  return { text: ranges.map(({ from, to }) => `${from} ${to}`).join('\n'), json: { tag, ranges } };
}

export function decoded(id: bigint, { timestamp, workerId, sequence }: SnowflakeParts): Result {
  const json = { id: String(id), timestamp, time: new Date(timestamp).toISOString(), workerId, sequence };
  return { text: lines(json), json };
}

export function tagDetails(tag: TagJson): Result {
  return { text: lines(tag), json: tag };
}

export function tagTable(list: TagList): Result {
  const rows = list.tags.map(({ tag, maxId, step, description }) => [tag, maxId, String(step), description]);
  const text = table(['TAG', 'NEXT ID', 'STEP', 'DESCRIPTION'], rows).join('\n');
  if (list.next === null) return { text, json: list };
  return { text, json: list, note: `There are more tags: leaf tags list --after ${list.next}` };
}

function lines(facts: object): string {
  const entries = Object.entries(facts).map(([name, value]: [string, unknown]) => [
    name,
    visible(typeof value === 'string' ? value : JSON.stringify(value)),
  ]);
  const width = Math.max(...entries.map(([name = '']) => name.length));
  return entries.map(([name = '', value = '']) => `${name.padEnd(width)}  ${value}`.trimEnd()).join('\n');
}
