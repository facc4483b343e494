import { isCount, isTime, parseObject } from '@leaf-ids/core/internal';
import { SERVER_STATES } from '../monitor/views/overview';
import type { ServerReport } from './views';

/** Tags of a report. */
export const MAX_TAGS = 20;
/** Characters of a text for people. */
export const MAX_TEXT = 1000;
/** Characters of a name or an address. */
const MAX_NAME = 300;

type Fields = Readonly<Record<string, unknown>>;

/**
 * The report in the response of another server; undefined if there is none. Contains only known properties with valid
 * values, so that a server of another version, or another program, does not reach the page of this one.
 */
export function parseReport(body: string): ServerReport | undefined {
  const given = parseObject(body);
  const { instance, state, version, startedAt, errorsPerSecond } = given;
  const { segment, snowflake } = fieldsOf(given.idsPerSecond);
  const isReport =
    isName(instance) &&
    SERVER_STATES.some((known) => known === state) &&
    isName(version) &&
    isTime(startedAt) &&
    [segment, snowflake, errorsPerSecond].every(isRate);
  if (!isReport) return undefined;
  return {
    instance,
    state: state as ServerReport['state'],
    ...(typeof given.reason === 'string' ? { reason: given.reason.slice(0, MAX_TEXT) } : {}),
    version,
    startedAt,
    idsPerSecond: { segment: segment as number, snowflake: snowflake as number },
    errorsPerSecond: errorsPerSecond as number,
    ...leaseOf(fieldsOf(given.snowflake)),
    ...tagsOf(fieldsOf(given.tags)),
    ...lastErrorOf(fieldsOf(given.lastError)),
  };
}

function leaseOf({
  registry,
  workerId,
  ceiling,
  lastReportAt,
  clockOffsetMs,
}: Fields): Pick<ServerReport, 'snowflake'> {
  if (typeof registry !== 'string' || !isCount(workerId) || !isTime(ceiling)) return {};
  return {
    snowflake: {
      registry: registry.slice(0, MAX_NAME),
      workerId,
      ceiling,
      lastReportAt: isTime(lastReportAt) ? lastReportAt : null,
      clockOffsetMs: typeof clockOffsetMs === 'number' && Number.isFinite(clockOffsetMs) ? clockOffsetMs : null,
    },
  };
}

function tagsOf({ count, used }: Fields): Pick<ServerReport, 'tags'> {
  if (!isCount(count)) return {};
  const list = Array.isArray(used) ? used.slice(0, MAX_TAGS).map(fieldsOf) : [];
  const tags = list.flatMap(({ tag, idsPerSecond, shard }) =>
    isName(tag) && isRate(idsPerSecond) ? [{ tag, idsPerSecond, ...(isName(shard) ? { shard } : {}) }] : [],
  );
  return { tags: { count, used: tags } };
}

function lastErrorOf({ at, code, message }: Fields): Pick<ServerReport, 'lastError'> {
  if (!isTime(at) || !isName(code) || typeof message !== 'string') return {};
  return { lastError: { at, code, message: message.slice(0, MAX_TEXT) } };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_NAME;
}

function isRate(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
