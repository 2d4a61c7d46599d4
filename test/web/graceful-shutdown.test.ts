import { EventEmitter } from 'node:events'
import type { Response } from 'express'
import { RunningOperations } from '../../lib/web/site'

const answer = () => Object.assign(new EventEmitter(), { closed: false, destroyed: false }) as unknown as Response
const upgrade = {} as Response
const isIdle = (underWay: RunningOperations) => {
  let is = false
  underWay.idle(10_000).then(() => {
    is = true
  })
  return async () => {
    await new Promise((resolve) => setImmediate(resolve))
    return is
  }
}

test('nothing is waited for where nothing is under way', () => new RunningOperations().idle(60_000))

test('an operation is under way until its answer has been sent', async () => {
  const [underWay, res] = [new RunningOperations(), answer()]
  let end = () => {}
  const operation = new Promise<void>((resolve) => {
    end = resolve
  })
  const run = underWay.run(() => operation, res)
  const is = isIdle(underWay)
  expect(await is()).toBe(false)
  end()
  await run
  expect(await is()).toBe(false)
  res.emit('close')
  expect(await is()).toBe(true)
})

test('an answer that is finished is waited for no longer, though its host never closes it', async () => {
  const [underWay, res] = [new RunningOperations(), answer()]
  await underWay.run(async () => {}, res)
  const is = isIdle(underWay)
  res.emit('finish')
  expect(await is()).toBe(true)
  res.emit('close')
  await underWay.run(async () => {}, Object.assign(answer(), { writableFinished: true }))
  await underWay.idle(60_000)
})

test('one whose user has gone, and one without an answer, until it is done; what fails is no exception', async () => {
  const underWay = new RunningOperations()
  await expect(underWay.run(() => Promise.reject(new Error('no')), upgrade)).rejects.toThrow('no')
  expect(await underWay.run(async () => 'done', Object.assign(answer(), { closed: true }))).toBe('done')
  await underWay.idle(60_000)
})

test('what begins while others are waited for is waited for too', async () => {
  const [underWay, first, second] = [new RunningOperations(), answer(), answer()]
  await underWay.run(async () => {}, first)
  const is = isIdle(underWay)
  await underWay.run(async () => {}, second)
  first.emit('close')
  expect(await is()).toBe(false)
  second.emit('close')
  expect(await is()).toBe(true)
})

test('the wait has an end', async () => {
  const underWay = new RunningOperations()
  await underWay.run(async () => {}, answer())
  const start = performance.now()
  await underWay.idle(50)
  expect(performance.now() - start).toBeLessThan(20_000) // and not for 50 s
})
