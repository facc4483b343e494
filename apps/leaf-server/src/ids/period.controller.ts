import { Controller, Get, Header, Param, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { MAX_RANGE_SIZE } from '@leaf-ids/core';
import { assertTag, MAX_PATTERN, NONCE_HEADER, NONCE_PARAMETER, PERIOD_PATTERN } from '@leaf-ids/core/internal';
import { EmbeddedIdService } from '@leaf-ids/id';
import { JSON_TYPE } from '../http/fast-path';
import {
  ApiOperation,
  ApiParam,
  ApiProperty,
  ApiPropertyOptional,
  ApiQuery,
  ApiResponse,
  ApiTags,
} from '../openapi/decorators';
import { ApiProblems, SEGMENT_PROBLEMS } from '../openapi/problems';
import { ANY_TAG, ApiSizeAndNonce, MOMENT, NONCE_ECHO } from '../openapi/schemas';
import { rangesText } from '../http/responses/batch-text';
import { GivenSize, parseFormat, parseMoment, parseNonce, parseSize } from './parameters';
import { IdRange } from './segment.controller';
import { TakesIds } from './takes-ids';

/** Maximum number of texts in a response, which take about 5 ms. */
const MAX_TEXTS = 1000;

class PeriodRanges {
  @ApiProperty(ANY_TAG)
  readonly tag!: string;

  @ApiProperty({
    description: 'The day, week, month, quarter or year that the numbers belong to.',
    pattern: PERIOD_PATTERN.source,
    example: '2026-11',
  })
  readonly period!: string;

  @ApiProperty({ type: [IdRange] })
  readonly ranges!: readonly IdRange[];

  @ApiPropertyOptional({
    type: [String],
    description: 'With `format`: the text of each number, in the order of the numbers.',
    example: ['INV-2026-11-00042'],
  })
  readonly texts?: readonly string[];
}

/** Numbers of tags that restart each period. */
@Controller('api/segment')
@ApiTags('Segment IDs')
export class PeriodController {
  constructor(private readonly ids: EmbeddedIdService) {}

  @Get('period/:tag')
  @TakesIds(MAX_RANGE_SIZE)
  @Header('content-type', JSON_TYPE)
  @ApiOperation({
    operationId: 'takePeriodNumbers',
    summary: 'The next numbers of a tag in its day, week, month, quarter or year',
    description: 'For tags whose numbers restart each period. A number is unique only within its period: store both.',
  })
  @ApiParam({ name: 'tag', ...ANY_TAG })
  @ApiSizeAndNonce(MAX_RANGE_SIZE)
  @ApiQuery({
    name: 'at',
    required: false,
    ...MOMENT,
    description: 'A time in the period, with `Z` or an offset; the current time by default.',
  })
  @ApiQuery({
    name: 'format',
    required: false,
    description: `A pattern for the text of each number, at most ${MAX_TEXTS} at once: \`INV-{YYYY}-{MM}-{seq:5}\`. It must contain \`{seq}\` and the placeholders that identify a period of the tag.`,
    schema: { type: 'string', minLength: 1, maxLength: MAX_PATTERN, example: '{YYYY}{MM}{DD}{seq:5}' },
  })
  @ApiResponse({
    status: 200,
    description: 'The period, and ascending ranges whose sizes add up to the requested size.',
    type: PeriodRanges,
    headers: NONCE_ECHO,
  })
  @ApiProblems(
    'LEAF_SIZE_INVALID',
    'LEAF_PERIOD_INVALID',
    'LEAF_TAG_NOT_PERIODIC',
    'LEAF_TAG_GAPLESS',
    ...SEGMENT_PROBLEMS,
  )
  async take(
    @Param('tag') tag: string,
    @GivenSize() size: unknown,
    @Query('at') at: unknown,
    @Query('format') format: unknown,
    @Query(NONCE_PARAMETER) nonce: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    assertTag(tag);
    void reply.header(NONCE_HEADER, parseNonce(nonce));
    const count = parseSize(size, format === undefined ? MAX_RANGE_SIZE : MAX_TEXTS);
    const moment = parseMoment(at);
    // Before any number is taken.
    const form = format === undefined ? undefined : parseFormat(format, await this.ids.resetOf(tag));
    const taken = await this.ids.nextRangesInPeriod(tag, count, moment);
    return rangesText(tag, taken.ranges, { period: taken.period, texts: form?.formatRanges(taken) });
  }
}
