import { ApiError, createApi, type Flag, routes } from '@halyard/contract'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Program, startProgram } from '../program/start-program.ts'

let s: Program
beforeAll(async () => {
  s = await startProgram('sqlite')
})
afterAll(() => s.close())

it('the typed client creates, changes and lists, and rejects with the field at fault', async () => {
  const api = createApi({ url: `${s.url}/`, key: s.key })
  const params = { project_id: String(s.projectId) }
  const flag: Flag = await api.call(routes.flags.create, { params, body: { key: 'a/b' } })
  const changed = await api.call(routes.flags.update, {
    params: { ...params, id: String(flag.id) },
    body: { active: false },
  })
  expect([flag.key, flag.active, changed.active]).toEqual(['a/b', true, false])
  await api.call(routes.flags.create, { params, body: { key: 'other' } })
  const keys: string[] = []
  for await (const { key } of api.list(routes.flags.list, { params, query: { search: '/' } })) keys.push(key)
  expect(keys).toEqual(['a/b'])
  const taken = api.call(routes.flags.create, { params, body: { key: 'other' } })
  await expect(taken).rejects.toBeInstanceOf(ApiError)
  await expect(taken).rejects.toMatchObject({ status: 400, code: 'unique', field: 'key' })
  // @ts-expect-error The body needs a key.
  await expect(api.call(routes.flags.create, { params, body: {} })).rejects.toMatchObject({ field: 'key' })
  const wrongKey = createApi({ url: s.url, key: 'phx_wrong' }).call(routes.users.getMe, {})
  await expect(wrongKey).rejects.toMatchObject({ status: 401 })
})
