import { DEFAULT_EPOCH } from '@leaf-ids/core';
import { HOLDER_PATTERN, MARKS } from '@leaf-ids/core/internal';
import { ApiProperty } from '../openapi/decorators';

export const LEASE_PATTERN = /^[0-9a-fA-F]{32}$/;

export const LEASE = {
  type: 'string',
  pattern: LEASE_PATTERN.source,
  description: 'Made by the caller: random for each start of a process, the same for each try of one request. Secret.',
  example: '5f0c6b9e2a7d4c1f8e3b0a9d6c5f4e21',
} as const;

export const HOLDER = {
  type: 'string',
  minLength: 1,
  maxLength: 127,
  pattern: HOLDER_PATTERN.source,
  description: 'Name of the process, for people; a long one is cut off.',
  example: 'billing-7d9f',
} as const;

export const WORKER_ID = { type: 'integer', minimum: 0, description: 'The worker ID.', example: 17 } as const;

export const LAST_TIMESTAMP = {
  ...moment('The newest timestamp that was used, or `from - 1` if none was. If omitted, any up to `until`.'),
  minimum: 0,
} as const;

export const KNOWN = {
  ...moment(
    '`until` of the newest answer that the caller has. A window that another process has extended since is refused with `LEAF_LEASE_LOST`: one of the two is a copy of the other.',
  ),
  minimum: 0,
} as const;

export const MARK = {
  type: 'integer',
  minimum: 0,
  maximum: MARKS - 1,
  description:
    'With `known`: the last three digits of the new `until`, random for each extension and the same for each try of it, so that a lost answer is not taken for a copy.',
  example: 417,
} as const;

function moment(description: string): { type: 'integer'; format: string; description: string; example: number } {
  return {
    type: 'integer',
    format: 'int64',
    description: `${description} Unix milliseconds.`,
    example: 1_795_335_429_032,
  };
}

class Layout {
  @ApiProperty({ ...moment('The time at which the time bits are 0.'), example: DEFAULT_EPOCH })
  readonly epoch!: number;

  @ApiProperty({ type: 'integer', example: 41 })
  readonly timeBits!: number;

  @ApiProperty({ type: 'integer', example: 10 })
  readonly workerBits!: number;

  @ApiProperty({ type: 'integer', example: 12 })
  readonly sequenceBits!: number;
}

export class WindowAnswer {
  @ApiProperty(WORKER_ID)
  readonly workerId!: number;

  @ApiProperty(LEASE)
  readonly lease!: string;

  @ApiProperty(moment('The first timestamp that may be used.'))
  readonly from!: number;

  @ApiProperty(moment('The last timestamp that may be used.'))
  readonly until!: number;

  @ApiProperty(moment('The clock of the server.'))
  readonly now!: number;

  @ApiProperty({ description: 'Bits of the IDs, from the most significant one.' })
  readonly layout!: Layout;
}

class ListedWindow {
  @ApiProperty(WORKER_ID)
  readonly workerId!: number;

  @ApiProperty(HOLDER)
  readonly holder!: string;

  @ApiProperty(moment('The first timestamp that may be used.'))
  readonly from!: number;

  @ApiProperty(moment('The last timestamp that may be used.'))
  readonly until!: number;
}

export class WindowList {
  @ApiProperty({ type: [ListedWindow], description: 'By worker ID.' })
  readonly workers!: readonly ListedWindow[];
}
