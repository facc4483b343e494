import { ArrayMaxSize, ArrayMinSize, IsArray, IsString } from 'class-validator';
import { KEY_PATTERN, MAX_KEY, MAX_KEYS, MAX_REASON, REASON_PATTERN } from '@leaf-ids/core/internal';
import { Omittable } from '../http/responses/omittable';
import { ApiProperty, ApiPropertyOptional, ApiSchema } from '../openapi/decorators';
import { MOMENT } from '../openapi/schemas';

const AT = {
  ...MOMENT,
  description: 'A time in the period of the document, with `Z` or an offset; the current time by default.',
} as const;

/** For the journal. */
const REASON = {
  minLength: 1,
  maxLength: MAX_REASON,
  pattern: REASON_PATTERN.source,
  example: 'printer jam',
} as const;

/** `PUT /api/numbers/:tag/:key`. */
@ApiSchema({ name: 'NumberDate', additionalProperties: false })
export class NumberBody {
  @ApiPropertyOptional(AT)
  @Omittable()
  @IsString({ message: 'at must be text' })
  readonly at?: string;
}

/** `PUT /api/numbers/:tag`. */
@ApiSchema({ name: 'NumberKeys', additionalProperties: false })
export class NumbersBody extends NumberBody {
  @ApiProperty({
    type: [String],
    minItems: 1,
    maxItems: MAX_KEYS,
    description: 'The documents, in the order of their numbers.',
    example: ['order 4711', 'order 4712'],
    items: { type: 'string', minLength: 1, maxLength: MAX_KEY, pattern: KEY_PATTERN.source },
  })
  @IsArray({ message: 'keys must be a list' })
  @ArrayMinSize(1, { message: 'keys must have at least one key' })
  @ArrayMaxSize(MAX_KEYS, { message: `keys must have at most ${MAX_KEYS} keys` })
  @IsString({ each: true, message: 'keys must be texts' })
  readonly keys!: string[];
}

/** `POST /api/numbers/:tag/:key/void`. */
@ApiSchema({ name: 'NumberReason', additionalProperties: false })
export class ReasonBody {
  @ApiProperty({ ...REASON, description: 'Why no document has it.' })
  @IsString({ message: 'reason must be text' })
  readonly reason!: string;
}
