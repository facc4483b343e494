import { ArrayMaxSize, ArrayMinSize, ArrayUnique, IsArray, IsIn, Matches } from 'class-validator';
import { TAG_PATTERN, TAG_RULE } from '@leaf-ids/core/internal';
import { Omittable } from '../http/responses/omittable';
import { ApiProperty, ApiPropertyOptional, ApiSchema } from '../openapi/decorators';
import { ANY_TAG } from '../openapi/schemas';
import { MAX_SERVERS, CLUSTER_COMMANDS } from './views';

const SERVERS = `servers must be 1 to ${MAX_SERVERS} different addresses such as "10.0.0.7:8080"`;
const INSTANCE = /^[!-~]{1,300}$/;

/** `POST /api/cluster/orders`. */
@ApiSchema({ name: 'ClusterOrder', additionalProperties: false })
export class CommandBody {
  @ApiProperty({ enum: CLUSTER_COMMANDS, description: 'What each server is to do.' })
  @IsIn(CLUSTER_COMMANDS, { message: `order must be one of ${CLUSTER_COMMANDS.join(', ')}` })
  readonly order!: (typeof CLUSTER_COMMANDS)[number];

  @ApiPropertyOptional({ ...ANY_TAG, description: 'With `pause-tag` and `resume-tag`: the tag.' })
  @Omittable()
  @Matches(TAG_PATTERN, { message: `tag must be ${TAG_RULE}` })
  readonly tag?: string;

  @ApiPropertyOptional({
    type: 'array',
    items: { type: 'string', pattern: INSTANCE.source, example: '10.0.0.7:8080' },
    uniqueItems: true,
    minItems: 1,
    maxItems: MAX_SERVERS,
    description: 'The servers, as `GET /api/cluster` names them; all servers if left out.',
  })
  @Omittable()
  @IsArray({ message: SERVERS })
  @ArrayMinSize(1, { message: SERVERS })
  @ArrayMaxSize(MAX_SERVERS, { message: SERVERS })
  @ArrayUnique({ message: SERVERS })
  @Matches(INSTANCE, { each: true, message: SERVERS })
  readonly servers?: string[];

  @ApiPropertyOptional({
    pattern: '^[0-9]{1,4}$',
    description: 'With `drain` of several servers: their number, so that nobody drains all of them by accident.',
    example: '3',
  })
  @Omittable()
  @Matches(/^\d{1,4}$/, { message: 'confirm must be the number of servers, as a string' })
  readonly confirm?: string;
}
