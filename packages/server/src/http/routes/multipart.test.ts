import { expect, test } from 'vitest'
import { Problem } from '../../problem.ts'
import { isMultipart, readMultipart } from './multipart.ts'

const type = 'multipart/form-data; boundary=b'
const part = (headers: string, content: string) => `--b\r\n${headers}\r\n\r\n${content}\r\n`
const field = (name: string, content: string) => part(`Content-Disposition: form-data; name="${name}"`, content)
const end = '--b--\r\n'

test('returns fields and files, of the same name the last one', async () => {
  const csv = part('content-disposition: form-data; name="csv"; filename="ä.csv"\r\ncontent-type: text/csv', 'a\r\nb')
  const body = Buffer.from(`preamble\r\n${field('name', 'ü')}${field('name', 'é')}${csv}${end}`)
  const { fields, files } = await readMultipart(body, 'Multipart/Form-Data; boundary="b"')
  expect(Object.fromEntries(fields)).toEqual({ name: 'é' })
  expect(files.get('csv')?.toString()).toBe('a\r\nb')
})

test('returns a file of several megabytes', async () => {
  const content = 'x'.repeat(5_000_000)
  const body = Buffer.from(part('content-disposition: form-data; name="csv"; filename="f"', content) + end)
  expect((await readMultipart(body, type)).files.get('csv')?.length).toBe(content.length)
})

const bad: [string, string | undefined, string | undefined][] = [
  ['an empty body', type, ''],
  ['no body', type, undefined],
  ['no boundary', 'multipart/form-data', field('a', 'x') + end],
  ['another boundary', 'multipart/form-data; boundary=c', field('a', 'x') + end],
  ['no end', type, field('a', 'x')],
  ['an end inside a file', type, '--b\r\ncontent-disposition: form-data; name="a"; filename="f"\r\n\r\nxyz'],
  ['a part without headers', type, '--b\r\nno headers'],
  ['a malformed header', type, `${part('\u0000: x', 'y')}${end}`],
  ['a part without a name', type, part('content-disposition: form-data', 'x') + end],
  ['a name that is too long', type, field('n'.repeat(201), 'x') + end],
  ['more than 100 parts', type, field('a', 'x').repeat(101) + end],
]

test.each(bad)('rejects %s', async (_case, contentType, body) => {
  const error = await readMultipart(body === undefined ? undefined : Buffer.from(body), contentType).then(
    () => undefined,
    reason => reason,
  )
  expect(error).toBeInstanceOf(Problem)
  expect(error).toMatchObject({ kind: 'unparsable' })
})

test.each([
  ['multipart/form-data', true],
  ['MULTIPART/FORM-DATA;boundary=x', true],
  ['multipart/form-database', false],
  ['application/json', false],
  [undefined, false],
])('%s is multipart: %s', (contentType, expected) => {
  expect(isMultipart(contentType)).toBe(expected)
})
