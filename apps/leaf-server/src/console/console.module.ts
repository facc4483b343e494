import { Module } from '@nestjs/common';
import { ConsoleController } from './console.controller';
import { SITE_DIRECTORY, StaticAssets } from './static-assets';

@Module({
  controllers: [ConsoleController],
  providers: [{ provide: StaticAssets, useFactory: () => StaticAssets.load(SITE_DIRECTORY) }],
})
export class ConsoleModule {}
