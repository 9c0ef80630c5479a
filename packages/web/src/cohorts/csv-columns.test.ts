import { describe, expect, it } from 'vitest'
import { readCsv } from './csv-columns.ts'

const idsOf = (text: string) => {
  const { columns, idColumn } = readCsv(text)
  return idColumn === undefined ? undefined : columns[idColumn]?.values
}

describe('an uploaded list', () => {
  it('is found by its header, in any column', () => {
    expect(idsOf('email,distinct_id\nada@x.org,ada\nbob@x.org,bob\n')).toEqual(['ada', 'bob'])
    expect(idsOf('Distinct ID;name\r\n"ada";x\r\nbob;y\n\n')).toEqual(['ada', 'bob'])
    expect(idsOf('id\tuser_id\n1\tada\n2\tbob')).toEqual(['ada', 'bob'])
  })

  it('needs no header with a single column', () => {
    expect(idsOf('ada\nbob')).toEqual(['ada', 'bob'])
    expect(idsOf('\uFEFFdistinct_id\nada\n')).toEqual(['ada'])
    expect(idsOf('email\nada@x.org')).toEqual(['ada@x.org'])
  })

  it('with quoted delimiters, quotes and line breaks is read as it was written', () => {
    expect(idsOf('name,distinct_id\n"Lovelace, Ada","a""1"\n"two\nlines",bob')).toEqual(['a"1', 'bob'])
  })

  it('with several columns and no known header is left to the user', () => {
    const file = readCsv('ada,x\nbob,y')
    expect(file.idColumn).toBeUndefined()
    expect(file.columns).toEqual([
      { name: '', values: ['ada', 'bob'] },
      { name: '', values: ['x', 'y'] },
    ])
    expect(readCsv('email,plan\na@x,pro').idColumn).toBeUndefined()
  })

  it('may be empty', () => {
    expect(readCsv('').columns.flatMap(({ values }) => values)).toEqual([])
  })
})
