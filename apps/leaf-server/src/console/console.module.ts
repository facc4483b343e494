import { Module } from '@nestjs/common';
import { ConsoleController } from './console.controller';
import { Site, SITE_DIRECTORY } from './site';

@Module({
  controllers: [ConsoleController],
  providers: [{ provide: Site, useFactory: () => Site.load(SITE_DIRECTORY) }],
})
export class ConsoleModule {}
