import { describe, expect, it } from 'vitest'
import { toCsv } from './csv.ts'

describe('CSV export', () => {
  it('quotes separators, quotes and line breaks', () => {
    expect(toCsv([['a,b', 'say "hi"', 'x\ny', 1, true, null, { k: 1 }]])).toBe(
      '"a,b","say ""hi""","x\ny",1,true,,"{""k"":1}"',
    )
  })

  it('never starts a cell with a formula', () => {
    expect(toCsv([['=1+1', '+1', '-1', '@SUM', '\tx', 'a=1']])).toBe("'=1+1,'+1,'-1,'@SUM,'\tx,a=1")
  })
})
