;; Copies fragments, one after another. The list has an address and a length in bytes for each of them. It copies whole blocks of
;; 64 bytes, which is faster than a call of memory.copy: the next fragment overwrites the surplus, and the last one needs room for it.
(module
  (memory (export "memory") 1)

  (func (export "copy") (param $list i32) (param $count i32) (param $target i32)
    (local $end i32) (local $source i32) (local $at i32)
    (local.set $end (i32.add (local.get $list) (i32.shl (local.get $count) (i32.const 3))))
    (block $done
      (loop $next
        (br_if $done (i32.eq (local.get $list) (local.get $end)))
        (local.set $source (i32.load (local.get $list)))
        (local.set $at (local.get $target))
        (local.set $target (i32.add (local.get $target) (i32.load offset=4 (local.get $list))))
        (loop $block
          (v128.store (local.get $at) (v128.load (local.get $source)))
          (v128.store offset=16 (local.get $at) (v128.load offset=16 (local.get $source)))
          (v128.store offset=32 (local.get $at) (v128.load offset=32 (local.get $source)))
          (v128.store offset=48 (local.get $at) (v128.load offset=48 (local.get $source)))
          (local.set $source (i32.add (local.get $source) (i32.const 64)))
          (local.set $at (i32.add (local.get $at) (i32.const 64)))
          (br_if $block (i32.lt_u (local.get $at) (local.get $target))))
        (local.set $list (i32.add (local.get $list) (i32.const 8)))
        (br $next)))))
