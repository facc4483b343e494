import { Module } from '@nestjs/common';
import { RespListener } from './resp-listener';

/** IDs for clients of the Redis protocol. */
@Module({ providers: [RespListener] })
export class RespModule {}
