import type { NumberJson, NumberState } from '@leaf-ids/core';
import { type AuditJson, KEY_PATTERN, MAX_KEY, NUMBER_STATES } from '@leaf-ids/core/internal';
import { ApiProperty, ApiPropertyOptional, ApiSchema } from '../openapi/decorators';
import { ANY_TAG, ID, MOMENT } from '../openapi/schemas';

export const DOCUMENT = {
  type: 'string',
  minLength: 1,
  maxLength: MAX_KEY,
  pattern: KEY_PATTERN.source,
  description: 'The document that the number is for, as the caller names it.',
  example: 'order 4711',
} as const;

export const STATE = {
  enum: NUMBER_STATES,
  description:
    '`issued`: open. `confirmed`: the document exists. `void`: no document has the number. `reissued`: void, and given to another document since.',
} as const;

/** The number of a document. */
@ApiSchema({ name: 'DocumentNumber' })
export class NumberResponse implements NumberJson {
  @ApiProperty(ANY_TAG)
  readonly tag!: string;

  @ApiProperty(DOCUMENT)
  readonly key!: string;

  @ApiPropertyOptional({ description: 'Absent for a tag without periods.', example: '2026-11' })
  readonly period?: string;

  @ApiProperty({ ...ID, description: 'Unique within its period.', example: '42' })
  readonly number!: string;

  @ApiPropertyOptional({ description: 'The number in the pattern of the tag.', example: 'INV-2026-11-00042' })
  readonly text?: string;

  @ApiProperty(STATE)
  readonly state!: NumberState;

  @ApiProperty(MOMENT)
  readonly issuedAt!: string;

  @ApiProperty({ description: 'Name of the token.', example: 'shop' })
  readonly issuedBy!: string;

  @ApiPropertyOptional({ ...MOMENT, description: 'When it was confirmed or became void.' })
  readonly settledAt?: string;

  @ApiPropertyOptional({ description: 'Name of the token.', example: 'shop' })
  readonly settledBy?: string;

  @ApiPropertyOptional({ description: 'Why it is void.', example: 'printer jam' })
  readonly reason?: string;
}

@ApiSchema({ name: 'DocumentNumbers' })
export class NumbersResponse {
  @ApiProperty({ type: [NumberResponse] })
  readonly numbers!: readonly NumberResponse[];
}

@ApiSchema({ name: 'NumberRange' })
class MissingRange {
  @ApiProperty(ID)
  readonly from!: string;

  @ApiProperty(ID)
  readonly to!: string;
}

@ApiSchema({ name: 'AuditFault' })
class FaultResponse {
  @ApiPropertyOptional(ID)
  readonly number?: string;

  @ApiPropertyOptional({ type: 'integer', description: 'Of the line of the journal.' })
  readonly position?: number;

  @ApiProperty()
  readonly problem!: string;
}

const COUNT = { type: 'integer', minimum: 0 } as const;

@ApiSchema({ name: 'NumberCounts' })
class CountsResponse implements Record<NumberState, number> {
  @ApiProperty(COUNT)
  readonly issued!: number;

  @ApiProperty(COUNT)
  readonly confirmed!: number;

  @ApiProperty(COUNT)
  readonly void!: number;

  @ApiProperty(COUNT)
  readonly reissued!: number;
}

/** What an audit has found. */
@ApiSchema({ name: 'NumberAudit' })
export class AuditResponse implements AuditJson {
  @ApiProperty(ANY_TAG)
  readonly tag!: string;

  @ApiPropertyOptional({ example: '2026-11' })
  readonly period?: string;

  @ApiPropertyOptional(ID)
  readonly first?: string;

  @ApiPropertyOptional(ID)
  readonly last?: string;

  @ApiProperty()
  readonly counts!: CountsResponse;

  @ApiProperty({ description: 'Whether every number from the first of the tag to the last is on record.' })
  readonly contiguous!: boolean;

  @ApiProperty({ type: [MissingRange], description: 'Numbers that are not on record; the first 1000 ranges.' })
  readonly missing!: readonly MissingRange[];

  @ApiProperty({ description: 'Whether no number was issued before a lower one.' })
  readonly chronological!: boolean;

  @ApiProperty({ ...COUNT, description: 'Lines of the journal.' })
  readonly lines!: number;

  @ApiProperty({ ...COUNT, description: 'Lines sealed with a key that this server does not have.' })
  readonly unverified!: number;

  @ApiProperty({ description: 'Hash of the last line.' })
  readonly hash!: string;

  @ApiProperty({ description: 'Whether the journal is whole and says what the numbers say.' })
  readonly intact!: boolean;

  @ApiPropertyOptional({ description: 'The first place where it does not.' })
  readonly fault?: FaultResponse;
}
