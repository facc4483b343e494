import type { Interleave, TagOrder, TagReset } from '@leaf-ids/core';
import {
  MAX_DESCRIPTION,
  MAX_INTERLEAVE,
  MAX_PATTERN,
  MAX_STEP,
  ORDERS,
  RESET_PATTERN,
  type TagJson,
} from '@leaf-ids/core/internal';
import { ApiProperty, ApiPropertyOptional, ApiSchema } from '../openapi/decorators';
import { ANY_TAG, ID, MOMENT } from '../openapi/schemas';

/** Syntax of IANA time zone names. */
export const ZONE_PATTERN = /^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/;

const STEPS = { type: 'integer', minimum: 1, maximum: MAX_STEP } as const;

@ApiSchema({
  name: 'Interleave',
  additionalProperties: false,
  description: 'The share of this database in a tag whose IDs several databases issue.',
})
export class InterleaveSettings implements Interleave {
  @ApiProperty({
    type: 'integer',
    minimum: 2,
    maximum: MAX_INTERLEAVE,
    description: 'Number of databases that share the tag.',
  })
  readonly of!: number;

  @ApiProperty({
    type: 'integer',
    minimum: 0,
    maximum: MAX_INTERLEAVE - 1,
    description: 'Index of this database, from 0 to `of` - 1.',
  })
  readonly remainder!: number;

  @ApiProperty({ ...STEPS, description: 'Number of consecutive IDs that each database issues.' })
  readonly block!: number;
}

/** Settings that cannot change after the tag is created. */
export const KIND = {
  order: {
    enum: ORDERS,
    description:
      '`strict`: IDs ascend across all servers. `relaxed`, the default: IDs ascend on each server. `gapless`: one number for each document, without gaps.',
  },
  reset: {
    type: 'string',
    pattern: RESET_PATTERN.source,
    description:
      'How often the numbers restart: `daily`, `weekly` (ISO 8601), `monthly`, `quarterly`, `yearly`, or `fiscal:MM-DD` with the first day of a fiscal year.',
    example: 'monthly',
  },
  zone: {
    type: 'string',
    pattern: ZONE_PATTERN.source,
    description: 'IANA time zone of the calendar for `reset`; UTC by default.',
    example: 'Europe/Berlin',
  },
  interleave: { type: InterleaveSettings },
  pattern: {
    minLength: 1,
    maxLength: MAX_PATTERN,
    description: 'The text of a number of a gapless tag.',
    example: 'INV-{YYYY}-{MM}-{seq:5}',
  },
  reissue: { description: 'Whether a gapless tag gives void numbers out again; false by default.' },
} as const;

/** A row in HTTP responses and in the audit log, without the settings that the row does not have. */
@ApiSchema({ name: 'Tag' })
export class TagResponse implements TagJson {
  @ApiProperty(ANY_TAG)
  readonly tag!: string;

  @ApiProperty({ ...ID, description: 'The first ID that no server has allocated.', example: '1' })
  readonly maxId!: string;

  @ApiProperty({ ...STEPS, description: 'Minimum size of a segment, in IDs.', example: 2000 })
  readonly step!: number;

  @ApiPropertyOptional({ ...STEPS, description: 'Maximum size of a segment, in IDs.' })
  readonly maxStep?: number;

  @ApiPropertyOptional({ ...ID, description: 'The last ID that the tag can issue.', example: '999999' })
  readonly max?: string;

  @ApiPropertyOptional(KIND.order)
  readonly order?: TagOrder;

  @ApiPropertyOptional(KIND.reset)
  readonly reset?: TagReset;

  @ApiPropertyOptional(KIND.zone)
  readonly zone?: string;

  @ApiPropertyOptional(KIND.interleave)
  readonly interleave?: Interleave;

  @ApiPropertyOptional(KIND.pattern)
  readonly pattern?: string;

  @ApiPropertyOptional(KIND.reissue)
  readonly reissue?: boolean;

  @ApiPropertyOptional({ description: 'Name of the database that owns the tag; left out if there is only one.' })
  readonly shard?: string;

  @ApiProperty({ maxLength: MAX_DESCRIPTION, description: 'What the tag is for.', example: '' })
  readonly description!: string;

  @ApiProperty({ ...MOMENT, description: 'Time of the last change of the row.' })
  readonly updatedAt!: string;

  @ApiPropertyOptional({
    ...MOMENT,
    description:
      'Only when tags are read: when the tag runs out of IDs at the rate of the last days; left out if that is unknown, or more than 1000 years away.',
  })
  readonly endsAt?: string;
}
