/** NestJS: single sign-on stands in front of Nest, and its guards before Nest's routes. */
import 'reflect-metadata'
import {
  Controller,
  createParamDecorator,
  type ExecutionContext,
  Get,
  Header,
  type MiddlewareConsumer,
  Module,
  type NestModule,
  type OnApplicationShutdown,
} from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import type { Request } from 'express'
import { sso2, type User } from 'express-sso2'

const sso = sso2()

/** `@Reader() reader` in a handler: who is logged in, or `undefined`. */
const Reader = createParamDecorator(
  (_data: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<Request>().sso2.user,
)

@Controller()
class PagesController {
  @Get()
  @Header('Cache-Control', 'private, no-store') // a cache would show the page of one user to another
  front(@Reader() reader?: User) {
    return reader ? '<a href="/account">Your account</a> <a href="/logout">Log out</a>' : '<a href="/login">Log in</a>'
  }

  @Get('account')
  account(@Reader() reader: User) {
    return reader
  }
}

@Module({ controllers: [PagesController] })
class AppModule implements NestModule, OnApplicationShutdown {
  configure(consumer: MiddlewareConsumer) {
    consumer.apply(sso.requireLogin()).forRoutes('account')
  }

  onApplicationShutdown() {
    return sso.close()
  }
}

async function bootstrap() {
  const app = await NestFactory.create(AppModule)
  app.use(sso) // before Nest's own body parsers and routes
  app.enableShutdownHooks()
  await app.listen(process.env['PORT'] ?? 3000)
}

bootstrap()
