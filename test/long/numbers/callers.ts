import { setTimeout as sleep } from 'node:timers/promises';
import { isLeafError, type Numbers } from '@leaf-ids/core';
import { beginTransaction } from '../../support/servers/transactions';
import { NO_ANSWER } from '../chaos/faults/fault';
import { ask } from '../chaos/load/http-ask';
import type { Given } from './checker';

export const TAG = 'invoice';
const DAY_MS = 86_400_000;
/** How long an answer is awaited; less than a fault lasts. */
const LIMIT_MS = 1500;
/** Attempts after the last fault, when every call is answered. */
const LAST_ATTEMPTS = 100;
/** Refusals that a fault may cause, and what a broken connection looks like; anything else is a fault of the code. */
const EXPECTED = [
  ...['LEAF_STORE_UNAVAILABLE', 'LEAF_OVERLOADED', 'LEAF_NOT_READY', 'LEAF_SEGMENT_UNAVAILABLE'],
  ...NO_ANSWER,
];

/** What callers got, and what became of the documents of the application. */
export class Record {
  readonly given: Given[] = [];
  readonly documents = new Map<string, number>();
  readonly faults: string[] = [];
  /** Answers that did not come, by reason. */
  readonly refusals = new Map<string, number>();
  /** Keys whose callers had to ask again. */
  retried = 0;
  rolledBack = 0;
  running = true;
  private readonly began = process.hrtime.bigint();

  now(): number {
    return Number(process.hrtime.bigint() - this.began);
  }

  /** @param isOfServer false for errors of the application's own connection to its database, which have any code */
  refused(reason: string, isOfServer = true): void {
    this.refusals.set(reason, (this.refusals.get(reason) ?? 0) + 1);
    if ((isOfServer || reason.startsWith('LEAF_')) && !EXPECTED.includes(reason))
      this.faults.push(`refused with ${reason}`);
  }
}

interface Document {
  readonly key: string;
  readonly at: Date;
}

/** Of today, or of a day before: its period is over, and goes on all the same. */
function documentOf(caller: string, turn: number): Document {
  return { key: `${caller} ${turn}`, at: new Date(Date.now() - (turn % 3 === 0 ? DAY_MS : 0)) };
}

/** Asks servers for the number of one document after another, and each of them again until one answers. */
export async function runHttp(record: Record, caller: string, ports: () => readonly number[]): Promise<void> {
  for (let turn = 0; record.running; turn++) {
    const size = turn % 5 === 0 ? 7 : 1;
    const { key, at } = documentOf(caller, turn);
    const keys = size === 1 ? [key] : Array.from({ length: size }, (_, index) => `${key}.${index}`);
    for (let attempt = 0; ; attempt++) {
      if (attempt === 1) record.retried += keys.length;
      const all = ports();
      const port = all[(turn + attempt) % all.length]!;
      const startedAt = record.now();
      const one = issue(port, keys, at);
      // Some have no patience: they ask another server meanwhile.
      const also = turn % 4 === 0 ? issue(all[(turn + attempt + 1) % all.length]!, keys, at) : undefined;
      const answers = await Promise.all([one, also]);
      const endedAt = record.now();
      let done = false;
      for (const answer of answers) {
        if (answer === undefined) continue;
        if (typeof answer === 'string') {
          record.refused(answer);
          continue;
        }
        done = true;
        const isNew = answer.isNew && attempt === 0 && also === undefined;
        for (const [index, { period, number }] of answer.numbers.entries()) {
          record.given.push({ caller, key: keys[index]!, period, number: Number(number), startedAt, endedAt, isNew });
        }
      }
      if (done) break;
      if (!isRunning(record) && attempt >= LAST_ATTEMPTS) {
        record.faults.push(`${keys[0]} has no number after ${attempt} attempts`);
        break;
      }
      await sleep(20);
    }
  }
}

interface Issued {
  readonly isNew: boolean;
  readonly numbers: readonly { readonly period: string; readonly number: string }[];
}

/** Or why there is no answer. */
async function issue(port: number, keys: readonly string[], at: Date): Promise<Issued | string> {
  const [key = ''] = keys;
  const path = `/api/numbers/${TAG}${keys.length > 1 ? '' : `/${encodeURIComponent(key)}`}`;
  const body = JSON.stringify(keys.length > 1 ? { keys, at } : { at });
  const headers = { 'content-type': 'application/json' };
  const reply = await ask({ port, path, method: 'PUT', headers, body, limitMs: LIMIT_MS });
  return 'fault' in reply ? reply.fault : issuedOf(reply, keys.length);
}

interface AnswerBody extends Partial<Issued['numbers'][number]> {
  readonly code?: string;
  readonly numbers?: readonly Partial<Issued['numbers'][number]>[];
}

/** What an answer for so many keys says, or the reason of a refusal: its code, or all of it if it has none. */
export function issuedOf(
  { status, body }: { readonly status: number; readonly body: string },
  keys: number,
): Issued | string {
  const answer = parsed(body);
  if (status >= 300 && answer.code?.startsWith('LEAF_') === true) return answer.code;
  const numbers = (answer.numbers ?? [answer]).filter(isWhole);
  if (status >= 300 || numbers.length !== keys) return `${status} ${body}`;
  return { isNew: status === 201, numbers };
}

function isWhole(entry: Partial<Issued['numbers'][number]>): entry is Issued['numbers'][number] {
  return entry.period !== undefined && Number(entry.number) > 0;
}

function parsed(body: string): AnswerBody {
  try {
    return (JSON.parse(body) as AnswerBody | null) ?? {};
  } catch {
    return {};
  }
}

/** An application that numbers its documents in its own transactions, and rolls some of them back. */
export async function runApplication(
  record: Record,
  caller: string,
  url: () => string,
  numbers: Numbers,
): Promise<void> {
  for (let turn = 0; record.running; turn++) {
    const { key, at } = documentOf(caller, turn);
    for (;;) {
      try {
        if (await save(record, caller, url(), numbers, key, at, turn % 5 === 4)) break;
      } catch (error) {
        const code = isLeafError(error) ? error.code : ((error as { code?: string }).code ?? String(error));
        record.refused(code, false);
        await sleep(20);
      }
      if (!isRunning(record)) break;
    }
  }
}

async function save(
  record: Record,
  caller: string,
  url: string,
  numbers: Numbers,
  key: string,
  at: Date,
  isUndone: boolean,
): Promise<boolean> {
  const transaction = await beginTransaction(url);
  try {
    const mark = url.startsWith('mysql:') ? ['?', '?'] : ['$1', '$2'];
    await transaction.statement(`DELETE FROM document WHERE id = ${mark[0]}`, [key]);
    const startedAt = record.now();
    const [answer] = await numbers.issueWithin(transaction.statement, TAG, [key], 'application', at);
    const { period, number } = answer!.number;
    await transaction.statement(`INSERT INTO document (id, number) VALUES (${mark.join(', ')})`, [key, number]);
    await transaction.end(isUndone ? 'ROLLBACK' : 'COMMIT');
    if (isUndone) {
      record.rolledBack++;
      return true;
    }
    const endedAt = record.now();
    const isNew = answer!.isNew;
    record.given.push({ caller, key, period, number: Number(number), startedAt, endedAt, isNew });
    record.documents.set(key, Number(number));
    return true;
  } catch (error) {
    transaction.close();
    throw error;
  }
}

/** It ends while a call waits. */
function isRunning({ running }: Record): boolean {
  return running;
}
