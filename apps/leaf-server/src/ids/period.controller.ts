import { Controller, Get, Header, Param, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { assertTag, MAX_RANGE_SIZE, NONCE_HEADER, NONCE_PARAMETER } from '@leaf/core';
import { EmbeddedIdService } from '@leaf/id';
import { JSON_TYPE } from '../http/fast-path';
import { SEGMENT_PROBLEMS } from '../openapi/problem-responses';
import { Describe, json } from '../openapi/route-description';
import { arrayOf, object, text } from '../openapi/schema';
import { ANY_TAG, MOMENT, NONCE, NONCE_ECHO, sizeUpTo } from '../openapi/shared-schemas';
import { rangesText } from '../http/responses/batch-text';
import { parseMoment } from './moment';
import { parseNonce } from './nonce';
import { RANGE, type RangeResponse } from './segment.controller';
import { parseSize } from './size';

interface PeriodResponse extends Omit<RangeResponse, 'order'> {
  readonly period: string;
}

const NUMBERS = object<PeriodResponse>('PeriodRanges', {
  tag: ANY_TAG,
  period: {
    ...text('The day, month or year that the numbers belong to.', '2026-11'),
    pattern: '^[0-9]{4}(-[0-9]{2}){0,2}$',
  },
  ranges: arrayOf(RANGE),
});

/** Numbers of tags that begin anew with each period. */
@Controller('api/segment')
export class PeriodController {
  constructor(private readonly ids: EmbeddedIdService) {}

  @Get('period/:tag')
  @Header('content-type', JSON_TYPE)
  @Describe({
    id: 'takePeriodNumbers',
    group: 'Segment IDs',
    summary: 'The next numbers of a tag in its day, month or year',
    detail: 'For tags that begin anew with each period. A number is unique together with its period only: keep both.',
    path: { tag: ANY_TAG },
    query: {
      size: sizeUpTo(MAX_RANGE_SIZE),
      at: { ...MOMENT, description: 'A moment of the period, with `Z` or an offset; now when it is left out.' },
      [NONCE_PARAMETER]: NONCE,
    },
    optional: ['at'],
    answers: {
      200: {
        ...json(NUMBERS, 'The period, and ascending ranges whose sizes add up to the size that was asked for.'),
        headers: NONCE_ECHO,
      },
    },
    problems: ['LEAF_SIZE_INVALID', 'LEAF_PERIOD_INVALID', 'LEAF_TAG_NOT_PERIODIC', ...SEGMENT_PROBLEMS],
  })
  async take(
    @Param('tag') tag: string,
    @Query('size') size: unknown,
    @Query('at') at: unknown,
    @Query(NONCE_PARAMETER) nonce: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    assertTag(tag);
    void reply.header(NONCE_HEADER, parseNonce(nonce));
    const { period, ranges } = await this.ids.nextRangesInPeriod(tag, parseSize(size, MAX_RANGE_SIZE), parseMoment(at));
    return rangesText(tag, ranges, { period });
  }
}
