import { type Command, Option } from 'commander';
import type { NumberJson } from '@leaf-ids/core';
import { type AuditJson, MAX_TAGS_PER_PAGE, NUMBER_STATES, table, visible, voidNumber } from '@leaf-ids/core/internal';
import type { Continuation, NumberFilter, NumberList } from './number-source';
import { id, time, whole } from './options';
import type { Perform, Result } from './source';
import { lines } from './text';

/** What `leaf tags create` needs for a tag of these commands. */
const SETTINGS = '--order gapless';

/** `leaf numbers issue|confirm|void|show|list|audit|continue`. */
export function addNumberCommands(program: Command, perform: Perform): void {
  const numbers = program.command('numbers').description('numbers of documents without gaps, of gapless tags');
  const add = (name: string, description: string): Command =>
    numbers.command(name).description(description).argument('<tag>');
  const withKey = (name: string, description: string): Command =>
    add(name, description).argument('<key>', 'the document');

  add('issue', 'give documents their numbers; a document that has one keeps it')
    .argument('<keys...>', 'the documents')
    .option('--at <time>', 'time in the period of the documents, such as 2026-11-22T10:00:00Z (default: now)', time)
    .action((tag: string, keys: string[], { at }: { at?: Date }) =>
      perform(async (source) => issued(tag, await source.numbers.issue(tag, keys, at)), tag, SETTINGS),
    );
  withKey('confirm', 'say that the document exists').action((tag: string, key: string) =>
    perform(async (source) => details(await source.numbers.confirm(tag, key)), tag, SETTINGS),
  );
  withKey('void', 'say that no document has the number')
    .requiredOption('--reason <text>', 'why, for the journal')
    .action((tag: string, key: string, { reason }: { reason: string }) =>
      perform(async (source) => details(await source.numbers.void(tag, key, reason)), tag, SETTINGS),
    );
  withKey('show', 'show the number of a document').action((tag: string, key: string) =>
    perform(async (source) => details(await source.numbers.find(tag, key)), tag, SETTINGS),
  );
  add('list', 'list numbers by period and number, page by page')
    .option('--period <period>', 'only this period, such as 2026-11')
    .addOption(new Option('--state <state>', 'only numbers in this state').choices(NUMBER_STATES))
    .option('--after <cursor>', 'start after the page before, which shows the value')
    .option('--limit <n>', `numbers per page, 1 to ${MAX_TAGS_PER_PAGE}`, whole(1, MAX_TAGS_PER_PAGE), 1000)
    .action((tag: string, filter: NumberFilter) =>
      perform(async (source) => numberTable(tag, filter, await source.numbers.list(tag, filter)), tag, SETTINGS),
    );
  add('audit', 'check the numbers of a period and their journal')
    .option('--period <period>', 'the period (default: the current one)')
    .action((tag: string, { period }: { period?: string }) =>
      perform(async (source) => audited(await source.numbers.audit(tag, period)), tag, SETTINGS),
    );
  add('continue', 'say where a tag goes on after a failover or restore; a server requires an admin token')
    .requiredOption('--last <n>', 'the last number that may be on a document, or 0', id)
    .requiredOption('--reason <text>', 'why, for the journal')
    .option('--period <period>', 'the period (default: the current one)')
    .action((tag: string, { last, ...rest }: { last: bigint } & Omit<Continuation, 'lastNumber'>) =>
      perform(
        async (source) => continued(tag, last, await source.numbers.continueAfter(tag, { lastNumber: last, ...rest })),
        tag,
        SETTINGS,
      ),
    );
}

function textOf({ text, number }: NumberJson): string {
  return text ?? number;
}

/** @throws LeafError `LEAF_NUMBER_SETTLED` for a void number, which no document may show */
function issued(tag: string, numbers: readonly NumberJson[]): Result {
  const settled = numbers.find(({ state }) => state === 'void' || state === 'reissued');
  if (settled !== undefined) throw voidNumber(tag, settled.key, settled.number);
  return { text: numbers.map((number) => visible(textOf(number))).join('\n'), json: { tag, numbers } };
}

function details(number: NumberJson): Result {
  return { text: lines(number), json: number };
}

function numberTable(tag: string, { period, state }: NumberFilter, list: NumberList): Result {
  const rows = list.numbers.map((number) => {
    const { period = '', key, state, issuedAt, issuedBy, reason = '' } = number;
    return [period, textOf(number), key, state, issuedAt, issuedBy, reason];
  });
  const text = table(['PERIOD', 'NUMBER', 'KEY', 'STATE', 'ISSUED', 'BY', 'REASON'], rows).join('\n');
  if (list.next === null) return { text, json: list };
  const filter = Object.entries({ period, state }).map(([name, value]) =>
    value === undefined ? '' : ` --${name} ${value}`,
  );
  const command = `leaf numbers list ${tag}${filter.join('')} --after ${list.next}`;
  return { text, json: list, note: `There are more numbers: ${command}` };
}

function audited(audit: AuditJson): Result {
  const { tag, period, first, last, counts, contiguous, missing, chronological, intact, hash, ...journal } = audit;
  const gaps = missing.map(({ from, to }) => (from === to ? from : `${from} to ${to}`));
  const shown = {
    ...{ tag, period, first, last, ...counts, contiguous },
    missing: gaps.length > 0 ? gaps.join(', ') : undefined,
    ...{ chronological, intact, lines: journal.lines, unverified: journal.unverified, hash },
  };
  return {
    text: [lines(shown), '', visible(verdictOf(audit))].join('\n'),
    json: audit,
    failed: !audit.intact || !audit.contiguous,
  };
}

function verdictOf({ contiguous, intact, fault }: AuditJson): string {
  if (intact && contiguous) return 'Every number is on record, and the journal is intact.';
  if (fault === undefined) return 'Numbers are missing.';
  const { number, position, problem } = fault;
  const places = [
    ...(number === undefined ? [] : [`number ${number}`]),
    ...(position === undefined ? [] : [`line ${position} of the journal`]),
  ];
  return `The journal is not intact: ${[...places, problem].join(': ')}.`;
}

function continued(tag: string, last: bigint, skipped: number): Result {
  const text = `Numbers up to ${last} are on record; ${skipped} of them became void.`;
  return { text, json: { tag, lastNumber: String(last), skipped } };
}
