import {
  type Interleave,
  MAX_DESCRIPTION,
  MAX_INTERLEAVE,
  MAX_STEP,
  ORDERS,
  RESETS,
  type TagOrder,
  type TagReset,
  type TagRow,
} from '@leaf-ids/core';
import { ApiProperty, ApiPropertyOptional, ApiSchema } from '../openapi/decorators';
import { ANY_TAG, ID, MOMENT } from '../openapi/schemas';

/** What the names of IANA zones are made of. */
export const ZONE_PATTERN = /^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/;

const STEPS = { type: 'integer', minimum: 1, maximum: MAX_STEP } as const;

@ApiSchema({
  name: 'Interleave',
  additionalProperties: false,
  description: 'The share of this database in a tag that several give IDs of.',
})
export class InterleaveSettings implements Interleave {
  @ApiProperty({
    type: 'integer',
    minimum: 2,
    maximum: MAX_INTERLEAVE,
    description: 'Databases that share the tag.',
  })
  readonly of!: number;

  @ApiProperty({
    type: 'integer',
    minimum: 0,
    maximum: MAX_INTERLEAVE - 1,
    description: 'Which of them this one is, below `of`.',
  })
  readonly remainder!: number;

  @ApiProperty({ ...STEPS, description: 'IDs that one gives in a row.' })
  readonly block!: number;
}

/** What is set when a tag is created, and never again. */
export const KIND = {
  order: {
    enum: ORDERS,
    description: '`strict`: IDs ascend over all servers. `relaxed`, the default: on each server.',
  },
  reset: { enum: RESETS, description: 'The tag begins anew with each day, month or year.' },
  zone: {
    type: 'string',
    pattern: ZONE_PATTERN.source,
    description: 'IANA zone of the calendar that `reset` goes by; UTC when left out.',
    example: 'Europe/Berlin',
  },
  interleave: { type: InterleaveSettings },
} as const;

/** A row as HTTP and the audit log show it. A setting that the row does not have is left out. */
@ApiSchema({ name: 'Tag' })
export class TagResponse {
  @ApiProperty(ANY_TAG)
  readonly tag!: string;

  @ApiProperty({ ...ID, description: 'The first ID that is not taken yet.', example: '1' })
  readonly maxId!: string;

  @ApiProperty({ ...STEPS, description: 'IDs of a segment, at least.', example: 2000 })
  readonly step!: number;

  @ApiPropertyOptional({ ...STEPS, description: 'IDs of a segment, at most.' })
  readonly maxStep?: number;

  @ApiPropertyOptional({ ...ID, description: 'The last ID that may be given.', example: '999999' })
  readonly max?: string;

  @ApiPropertyOptional(KIND.order)
  readonly order?: TagOrder;

  @ApiPropertyOptional(KIND.reset)
  readonly reset?: TagReset;

  @ApiPropertyOptional(KIND.zone)
  readonly zone?: string;

  @ApiPropertyOptional(KIND.interleave)
  readonly interleave?: Interleave;

  @ApiProperty({ maxLength: MAX_DESCRIPTION, description: 'What the tag is for.', example: '' })
  readonly description!: string;

  @ApiProperty({ ...MOMENT, description: 'The last change of the row.' })
  readonly updatedAt!: string;
}

export function toTagResponse(row: TagRow): TagResponse {
  const { tag, maxId, step, maxStep, max, order, reset, zone, interleave, description = '', updatedAt } = row;
  return {
    tag,
    maxId: String(maxId),
    step,
    ...(maxStep === undefined ? {} : { maxStep }),
    ...(max === undefined ? {} : { max: String(max) }),
    ...(order === 'relaxed' ? {} : { order }),
    ...(reset === undefined ? {} : { reset }),
    ...(zone === undefined ? {} : { zone }),
    ...(interleave === undefined ? {} : { interleave }),
    description,
    updatedAt: new Date(updatedAt).toISOString(),
  };
}
