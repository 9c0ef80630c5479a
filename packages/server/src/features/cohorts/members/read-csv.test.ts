import { expect, test } from 'vitest'
import { Problem } from '../../../problem.ts'
import { readPeople } from './read-csv.ts'

const read = (text: string) => readPeople(Buffer.from(text))

test.each<[string, string, string[]]>([
  ['one id on each line, with any line break', 'a\r\nb\nc\rd', ['a', 'b', 'c', 'd']],
  ['a byte order mark', '\ufeffa\nb', ['a', 'b']],
  ['the first of several columns', 'a,x\nb,y,z\nc', ['a', 'b', 'c']],
  ['a named column', 'email;Distinct_ID\nx;a\ny;b\nz', ['a', 'b']],
  ['tabs', 'x\tdistinct id\n1\ta', ['a']],
  ['quotes, with separators, line breaks and quotes inside', '"a,1"\n"b\n2"\n"c""3"', ['a,1', 'b\n2', 'c"3']],
  ['a quote inside a cell', 'a"b\n5"', ['a"b', '5"']],
  ['blank cells and lines', '\n a \n\n,x\nb\n', ['a', 'b']],
  ['a formula, as it is', '=cmd|x!A0\n+1', ['=cmd|x!A0', '+1']],
  ['repeated ids', 'a\na\nb', ['a', 'b']],
])('reads %s', async (_case, text, expected) => {
  expect(await read(text)).toEqual({ distinctIds: expected, uuids: [] })
})

test('reads a column of person ids', async () => {
  expect(await read('name,person_id\nx,01A1DD5C-4A05-79F8-AF16-7DD175C73F78')).toEqual({
    distinctIds: [],
    uuids: ['01a1dd5c-4a05-79f8-af16-7dd175c73f78'],
  })
})

test('reads characters of several bytes wherever a slice of the file ends', async () => {
  const ids = Array.from({ length: 20_000 }, (_, n) => `${n}-ü-😀`)
  expect((await read(ids.join('\n'))).distinctIds).toEqual(ids)
})

test.each<[string, Buffer, string]>([
  ['no text', Buffer.from([0xff, 0xfe, 0x00]), 'UTF-8'],
  ['no persons', Buffer.from('distinct_id\n\n'), 'no persons'],
  ['nothing', Buffer.alloc(0), 'no persons'],
  ['a quote that is not closed', Buffer.from('a\n"b\nc'), 'not valid CSV'],
  ['a line that is too long', Buffer.from('x'.repeat(200_000)), 'longer than 131072'],
])('rejects a file with %s', async (_case, file, message) => {
  const error = await readPeople(file).then(
    () => undefined,
    reason => reason,
  )
  expect(error).toBeInstanceOf(Problem)
  expect(error).toMatchObject({ kind: 'invalid', field: 'csv', message: expect.stringContaining(message) })
})
