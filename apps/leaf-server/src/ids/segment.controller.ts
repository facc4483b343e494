import { Controller, Get, Header, Param, Query } from '@nestjs/common';
import { assertTag, IdService, MAX_BATCH_SIZE, MAX_RANGE_SIZE } from '@leaf/core';
import { TEXT_TYPE } from '../http/single-id.route';
import { parseSize } from './size';

interface BatchResponse {
  readonly tag: string;
  readonly ids: string[];
}

interface RangeResponse {
  readonly tag: string;
  readonly ranges: { readonly from: string; readonly to: string }[];
}

@Controller('api/segment')
export class SegmentController {
  constructor(private readonly ids: IdService) {}

  @Get('get/:tag')
  @Header('content-type', TEXT_TYPE)
  get(@Param('tag') tag: string): Promise<string> {
    assertTag(tag);
    return this.ids.nextIdString(tag);
  }

  @Get('batch/:tag')
  async batch(@Param('tag') tag: string, @Query('size') size: unknown): Promise<BatchResponse> {
    assertTag(tag);
    const ids = await this.ids.nextIds(tag, parseSize(size, MAX_BATCH_SIZE));
    return { tag, ids: ids.map(String) };
  }

  @Get('range/:tag')
  async range(@Param('tag') tag: string, @Query('size') size: unknown): Promise<RangeResponse> {
    assertTag(tag);
    const ranges = await this.ids.nextRanges(tag, parseSize(size, MAX_RANGE_SIZE));
    return { tag, ranges: ranges.map(({ from, to }) => ({ from: String(from), to: String(to) })) };
  }
}
