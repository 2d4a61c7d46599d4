import { dice } from './dice'
import { explore, nameOf, readChoices } from './explore'
import { type Choose, isDependent, type Option, type Step } from './scheduler'

/** Programs of some actors: each step reads or writes one of a few variables. */
type Program = readonly (readonly { readonly key: string; readonly isWrite: boolean }[])[]

function someProgram(seed: number): Program {
  const roll = dice(seed)
  const actors = 2 + Math.floor(roll() * 2)
  const length = actors === 2 ? 5 : 3
  return Array.from({ length: actors }, () =>
    Array.from({ length }, () => ({ key: 'xyz'.charAt(Math.floor(roll() * 3)), isWrite: roll() < 0.5 })),
  )
}

const optionsOf = (program: Program, steps: readonly Step[]): Option[] =>
  program.flatMap((touches, actor) => {
    const touch = touches[steps.filter((step) => step.actor === actor).length]
    return touch ? [{ actor, label: touch.key, touches: [touch], canFail: false }] : []
  })

/** Lets what can happen happen under somebody's choices, until nothing is left. */
async function run(optionsAfter: (steps: readonly Step[]) => Option[], choose: Choose): Promise<{ steps: Step[] }> {
  const steps: Step[] = []
  for (let options = optionsAfter(steps); options.length > 0; options = optionsAfter(steps)) {
    const choice = choose(options)
    const option = options.find(({ actor }) => actor === choice.actor)
    if (!option) throw new Error('nobody may choose what cannot happen')
    steps.push({ ...option, mode: choice.mode })
  }
  return { steps }
}
const runProgram = (program: Program) => (choose: Choose) => run((steps) => optionsOf(program, steps), choose)

/** Every order there is, one by one. */
function everyOrder(program: Program, steps: readonly Step[] = []): (readonly Step[])[] {
  const options = optionsOf(program, steps)
  if (options.length === 0) return [steps]
  return options.flatMap((option) => everyOrder(program, [...steps, { ...option, mode: 'ok' }]))
}

/** What an order comes to: for each two steps that touch each other, which of them came first. */
function meaningOf(steps: readonly Step[]): string {
  const counts: number[] = []
  const named = steps.map((step) => {
    counts[step.actor] = (counts[step.actor] ?? 0) + 1
    return { ...step, name: `${step.actor}.${counts[step.actor]}` }
  })
  const pairs = named.flatMap((one, index) =>
    named.slice(index + 1).flatMap((two) => (isDependent(one.touches, two.touches) ? [`${one.name}<${two.name}`] : [])),
  )
  return pairs.sort().join(' ')
}

const limits = { maxExecutions: 100_000, maxPreemptions: 99, faultsUpTo: -1 }

test.each(Array.from({ length: 40 }, (_, seed) => seed))(
  'everything that can come of program %i is run',
  async (seed) => {
    const program = someProgram(seed)
    const met = new Set<string>()
    const take = ({ steps }: { steps: Step[] }) => void met.add(meaningOf(steps))
    const explored = await explore(runProgram(program), { actors: program.length, ...limits }, take)
    const all = new Set(everyOrder(program).map((steps) => meaningOf(steps)))
    expect(met).toEqual(all)
    expect(explored).toMatchObject({ orders: all.size, astray: 0, isComplete: true })
  },
)

/** One actor writes twice; the other one reads, and looks again when a write has come since, or when nothing else is left to happen. */
function optionsOfPause(steps: readonly Step[]): Option[] {
  const touch = (isWrite: boolean) => [{ key: 'x', isWrite }]
  const [written, read] = [0, 1].map((actor) => steps.filter((step) => step.actor === actor).length)
  const write = { actor: 0, label: 'write', touches: touch(true), canFail: false }
  const look = { actor: 1, label: 'look again', touches: touch(false), canFail: false }
  const isWoken = steps.findLastIndex(({ actor }) => actor === 0) > steps.findIndex(({ actor }) => actor === 1)
  const writes = written === 2 ? [] : [write]
  if (read === 0) return [...writes, { ...look, label: 'read' }]
  if (read === 2) return writes
  if (isWoken) return [...writes, { ...look, wokenBy: 'write' }]
  return writes.length > 0 ? writes : [{ ...look, label: 'time', wokenBy: 'time' }]
}

test('a pause ends after the write that it waits for, in every order that there is', async () => {
  const met = new Set<string>()
  const take = ({ steps }: { steps: Step[] }) => void met.add(nameOf(steps))
  const explored = await explore((choose) => run(optionsOfPause, choose), { actors: 2, ...limits }, take)
  expect([...met].sort()).toEqual(['A2B2', 'ABAB', 'BA2B', 'BABA'])
  expect(explored).toMatchObject({ orders: 4, astray: 0, isComplete: true })
})

test('orders with few preemptions are run first', async () => {
  const lengths: number[] = []
  const take = ({ steps }: { steps: Step[] }) => void lengths.push(nameOf(steps).length)
  await explore(runProgram(someProgram(2)), { actors: 2, ...limits }, take)
  expect(lengths.slice(0, 2)).toEqual([Math.min(...lengths), Math.min(...lengths)])
})

test('a schedule is read as it was written', () => {
  const text = 'A3B-C~A12B2'
  expect(nameOf(readChoices(text))).toBe(text)
  expect(readChoices('A2B-')).toEqual([
    { actor: 0, mode: 'ok' },
    { actor: 0, mode: 'ok' },
    { actor: 1, mode: 'fail' },
  ])
})
