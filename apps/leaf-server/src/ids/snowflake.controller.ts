import { Controller, Get, Header, Param, Query } from '@nestjs/common';
import { assertTag, IdService, MAX_BATCH_SIZE } from '@leaf/core';
import { TEXT_TYPE } from '../http/single-id.route';
import { parseId } from './id-text';
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

@Controller('api/snowflake')
export class SnowflakeController {
  constructor(private readonly ids: IdService) {}

  @Get('get/:key')
  @Header('content-type', TEXT_TYPE)
  async get(@Param('key') key: string): Promise<string> {
    assertTag(key);
    const [id] = await this.ids.snowflakeStrings(1);
    return id as string;
  }

  @Get('batch/:key')
  async batch(@Param('key') key: string, @Query('size') size: unknown): Promise<BatchResponse> {
    assertTag(key);
    return { key, ids: await this.ids.snowflakeStrings(parseSize(size, MAX_BATCH_SIZE)) };
  }

  @Get('decode/:id')
  decode(@Param('id') text: string): DecodeResponse {
    const id = parseId(text);
    const { timestamp, workerId, sequence } = this.ids.decode(id);
    return { id: String(id), timestamp, time: new Date(timestamp).toISOString(), workerId, sequence };
  }
}
