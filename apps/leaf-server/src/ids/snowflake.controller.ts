import { Controller, Get, Header, Param, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { assertTag, MAX_BATCH_SIZE, NONCE_PARAMETER } from '@leaf/core';
import { EmbeddedIdService } from '@leaf/id';
import { TEXT_TYPE } from '../http/fast-path';
import { SNOWFLAKE_PROBLEMS } from '../openapi/problem-responses';
import { Describe, json, plainText } from '../openapi/route-description';
import { arrayOf, object, wholeNumber } from '../openapi/schema';
import { ID, KEY, MOMENT, NONCE, NONCE_ECHO, sizeUpTo } from '../openapi/shared-schemas';
import { BatchAnswer } from './batch-answer';
import { parseId } from './id-text';
import { parseNonce } from './nonce';
import { parseSize } from './size';

interface BatchResponse {
  readonly key: string;
  readonly ids: string[];
}

interface DecodeResponse {
  readonly id: string;
  readonly timestamp: number;
  readonly time: string;
  readonly workerId: number;
  readonly sequence: number;
}

const BATCH = object<BatchResponse>('SnowflakeBatch', { key: KEY, ids: arrayOf(ID) });
const PARTS = object<DecodeResponse>('SnowflakeParts', {
  id: ID,
  timestamp: wholeNumber('When the ID was made, in Unix milliseconds.', 1567733700834),
  time: { ...MOMENT, description: 'The same moment, in UTC.', example: '2019-09-06T01:35:00.834Z' },
  workerId: wholeNumber('Of the server that made it.', 39),
  sequence: wholeNumber('Of the ID within its millisecond.', 3448),
});

@Controller('api/snowflake')
export class SnowflakeController {
  private readonly batchAnswer = new BatchAnswer();

  constructor(private readonly ids: EmbeddedIdService) {}

  @Get('get/:key')
  @Header('content-type', TEXT_TYPE)
  @Describe({
    id: 'takeSnowflakeId',
    group: 'Snowflake IDs',
    summary: 'The next ID',
    path: { key: KEY },
    answers: { 200: plainText(ID, 'The ID.') },
    problems: SNOWFLAKE_PROBLEMS,
  })
  async get(@Param('key') key: string): Promise<string> {
    assertTag(key);
    const [id] = await this.ids.snowflakeStrings(1);
    return id as string;
  }

  @Get('batch/:key')
  @Describe({
    id: 'takeSnowflakeIds',
    group: 'Snowflake IDs',
    summary: 'The next IDs',
    path: { key: KEY },
    query: { size: sizeUpTo(MAX_BATCH_SIZE), [NONCE_PARAMETER]: NONCE },
    answers: { 200: { ...json(BATCH, 'The IDs, ascending.'), headers: NONCE_ECHO } },
    problems: ['LEAF_SIZE_INVALID', ...SNOWFLAKE_PROBLEMS],
  })
  async batch(
    @Param('key') key: string,
    @Query('size') size: unknown,
    @Query(NONCE_PARAMETER) nonce: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    assertTag(key);
    const echo = parseNonce(nonce);
    this.batchAnswer.send(reply, echo, 'key', key, await this.ids.snowflakeRanges(parseSize(size, MAX_BATCH_SIZE)));
  }

  @Get('decode/:id')
  @Describe({
    id: 'decodeSnowflakeId',
    group: 'Snowflake IDs',
    summary: 'The fields of a snowflake ID',
    detail: 'Told by the bit layout and the epoch of the server that is asked.',
    path: { id: ID },
    answers: { 200: json(PARTS, 'The fields.') },
    problems: ['LEAF_ID_INVALID', 'LEAF_SNOWFLAKE_DISABLED'],
  })
  decode(@Param('id') text: string): DecodeResponse {
    const id = parseId(text);
    const { timestamp, workerId, sequence } = this.ids.decode(id);
    return { id: String(id), timestamp, time: new Date(timestamp).toISOString(), workerId, sequence };
  }
}
