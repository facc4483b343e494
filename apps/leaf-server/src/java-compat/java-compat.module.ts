import { Module } from '@nestjs/common';
import { MonitorModule } from '../monitor/monitor.module';
import { DottedTags } from './dotted-tags';
import { JavaPagesController } from './java-pages.controller';
import { JavaController } from './java.controller';

/** Routes and pages of the Java service. */
@Module({ imports: [MonitorModule], controllers: [JavaController, JavaPagesController], providers: [DottedTags] })
export class JavaCompatModule {}
