import { Controller, Get, Param } from '@nestjs/common';
import { TagAdmin } from './tag-admin';
import type { TagResponse } from './tag-rows';

/** What there is, for everybody. */
@Controller('api/tags')
export class TagsController {
  constructor(private readonly tags: TagAdmin) {}

  @Get()
  list(): Promise<TagResponse[]> {
    return this.tags.list();
  }

  @Get(':tag')
  find(@Param('tag') tag: string): Promise<TagResponse> {
    return this.tags.find(tag);
  }
}
