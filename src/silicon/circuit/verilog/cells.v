// The cells of the bit-serial implementation, one module a kind. A word has a data wire (_d) and a
// control wire (_c); a name with _c alone is a pulse or a level. Every output is a register or a
// function of registers alone.

module cell_start (input clk, input rst, output reg y_c);
    reg done;
    always @(posedge clk)
        if (rst) begin
            y_c <= 1'b0;
            done <= 1'b0;
        end else begin
            y_c <= !done;
            done <= 1'b1;
        end
endmodule

module cell_constant #(parameter W = 1, parameter [W-1:0] VALUE = 0) (
    input clk, input rst, input a_c, output reg y_d, output reg y_c
);
    reg [W-1:0] bits, live;
    reg previous;
    always @(posedge clk)
        if (rst) begin
            {y_d, y_c, previous} <= 3'b000;
            bits <= 0;
            live <= 0;
        end else begin
            previous <= a_c;
            if (a_c && !previous) begin
                y_d <= VALUE[0];
                y_c <= 1'b1;
                bits <= VALUE >> 1;
                live <= {W{1'b1}} >> 1;
            end else begin
                y_d <= bits[0] & live[0];
                y_c <= live[0];
                bits <= bits >> 1;
                live <= live >> 1;
            end
        end
endmodule

module cell_zero (input clk, input rst, input a_c, output y_d, output reg y_c);
    assign y_d = 1'b0;
    always @(posedge clk) y_c <= !rst & a_c;
endmodule

module cell_one (input clk, input rst, input a_c, output reg y_d, output reg y_c);
    always @(posedge clk) begin
        y_d <= !rst & a_c & !y_c;
        y_c <= !rst & a_c;
    end
endmodule

module cell_ones (input clk, input rst, input a_c, output y_d, output reg y_c);
    assign y_d = y_c;
    always @(posedge clk) y_c <= !rst & a_c;
endmodule

// SUBTRACT complements b and starts with a carry.
module cell_sum #(parameter SUBTRACT = 0) (
    input clk, input rst, input a_d, input a_c, input b_d, input b_c,
    output reg y_d, output reg y_c, output reg carry_d, output reg carry_c
);
    localparam START = SUBTRACT != 0;
    reg carry;
    wire control = a_c & b_c;
    wire b = b_d ^ START;
    always @(posedge clk)
        if (rst) begin
            {y_d, y_c, carry_d, carry_c} <= 4'b0000;
            carry <= START;
        end else begin
            y_c <= control;
            y_d <= control & (a_d ^ b ^ carry);
            carry <= control ? (a_d & b) | (carry & (a_d | b)) : START;
            carry_c <= y_c & !control;
            carry_d <= y_c & !control & carry;
        end
endmodule

module cell_not (input clk, input rst, input a_d, input a_c, output reg y_d, output reg y_c);
    always @(posedge clk) begin
        y_d <= !rst & a_c & !a_d;
        y_c <= !rst & a_c;
    end
endmodule

// TABLE has the result for each pair of bits, that of a = b = 0 at bit 0, of a = 1, b = 0 at bit 1.
module cell_gate #(parameter [3:0] TABLE = 4'b1000) (
    input clk, input rst, input a_d, input a_c, input b_d, input b_c, output reg y_d, output reg y_c
);
    always @(posedge clk) begin
        y_d <= !rst & a_c & b_c & TABLE[{b_d, a_d}];
        y_c <= !rst & a_c & b_c;
    end
endmodule

// One slice a bit: each keeps a bit of both operands, and its part of the sum of the products.
module cell_multiply #(parameter W = 1) (
    input clk, input rst, input a_d, input a_c, input b_d, input b_c, output reg y_d, output reg y_c
);
    reg [W-1:0] a, b, place, sum;
    wire control = a_c & b_c;
    wire [W-1:0] with_a = a | (place & {W{a_d}});
    wire [W-1:0] next = sum + (b & {W{a_d}}) + (with_a & {W{b_d}});
    always @(posedge clk)
        if (rst || !control) begin
            {y_d, y_c} <= 2'b00;
            a <= 0;
            b <= 0;
            sum <= 0;
            place <= 1;
        end else begin
            y_d <= next[0];
            y_c <= 1'b1;
            a <= with_a;
            b <= b | (place & {W{b_d}});
            sum <= next >> 1;
            place <= place << 1;
        end
endmodule

// RELATION: bit 0 wants equality, bit 1 less, bit 2 the opposite of both. The last bit is a sign.
module cell_compare #(parameter [2:0] RELATION = 3'b001) (
    input clk, input rst, input a_d, input a_c, input b_d, input b_c, output reg y_d, output reg y_c
);
    reg equal, less, less_signed, previous;
    wire control = a_c & b_c;
    wire result = (RELATION[0] & equal) | (RELATION[1] & less_signed);
    always @(posedge clk)
        if (rst) begin
            {y_d, y_c, previous, less, less_signed} <= 5'b00000;
            equal <= 1'b1;
        end else begin
            previous <= control;
            y_c <= previous & !control;
            y_d <= previous & !control & (result ^ RELATION[2]);
            if (control) begin
                if (a_d != b_d) begin
                    equal <= 1'b0;
                    less <= b_d;
                    less_signed <= a_d;
                end else
                    less_signed <= less;
            end else begin
                equal <= 1'b1;
                {less, less_signed} <= 2'b00;
            end
        end
endmodule

// The control itself counts the bits: a chain of registers follows it.
module cell_slice #(parameter LOW = 0, parameter HIGH = 0) (
    input clk, input rst, input a_d, input a_c, output reg y_d, output reg y_c
);
    reg [HIGH:0] passed;
    wire [HIGH+1:0] position = {passed, a_c};
    wire inside = position[LOW] & !position[HIGH+1] & a_c;
    always @(posedge clk)
        if (rst) begin
            {y_d, y_c} <= 2'b00;
            passed <= 0;
        end else begin
            y_d <= inside & a_d;
            y_c <= inside;
            passed <= a_c ? position[HIGH:0] : 0;
        end
endmodule

module cell_concatenate (
    input clk, input rst, input a_d, input a_c, input b_d, input b_c, output reg y_d, output reg y_c
);
    always @(posedge clk) begin
        y_d <= !rst & (a_d | b_d);
        y_c <= !rst & (a_c | b_c);
    end
endmodule

module cell_extend #(parameter BY = 1, parameter SIGNED = 0) (
    input clk, input rst, input a_d, input a_c, output reg y_d, output reg y_c
);
    reg [BY-1:0] live;
    reg previous, last;
    wire [BY-1:0] left = (previous & !a_c) ? {BY{1'b1}} : live;
    always @(posedge clk)
        if (rst) begin
            {y_d, y_c, previous, last} <= 4'b0000;
            live <= 0;
        end else begin
            previous <= a_c;
            if (a_c) begin
                last <= a_d;
                y_d <= a_d;
                y_c <= 1'b1;
            end else begin
                y_d <= left[0] & last & (SIGNED != 0);
                y_c <= left[0];
                live <= left >> 1;
            end
        end
endmodule

module cell_switch #(parameter PASS = 1) (
    input clk, input rst, input a_d, input a_c, input b_d, input b_c, output reg y_d, output reg y_c
);
    reg open, previous;
    wire now = previous ? open : a_c & (a_d == (PASS != 0));
    always @(posedge clk)
        if (rst)
            {y_d, y_c, open, previous} <= 4'b0000;
        else begin
            open <= now;
            previous <= b_c;
            y_d <= b_c & now & b_d;
            y_c <= b_c & now;
        end
endmodule

module cell_merge #(parameter N = 2) (
    input clk, input rst, input [N-1:0] a_d, input [N-1:0] a_c, output reg y_d, output reg y_c
);
    always @(posedge clk) begin
        y_d <= !rst & |a_d;
        y_c <= !rst & |a_c;
    end
endmodule

module cell_case #(parameter W = 1, parameter N = 1, parameter [W*N-1:0] LABELS = 0) (
    input clk, input rst, input a_d, input a_c, output reg [N:0] y_d, output [N:0] y_c
);
    reg [W-1:0] bits;
    reg previous, result;
    wire [N-1:0] equal;
    genvar i;
    generate
        for (i = 0; i < N; i = i + 1) begin : label
            assign equal[i] = bits == LABELS[i*W +: W];
        end
    endgenerate
    assign y_c = {(N+1){result}};
    always @(posedge clk)
        if (rst) begin
            {previous, result} <= 2'b00;
            y_d <= 0;
            bits <= 0;
        end else begin
            previous <= a_c;
            result <= previous & !a_c;
            y_d <= (previous & !a_c) ? {~|equal, equal} : 0;
            if (a_c) bits <= {a_d, previous ? bits : {W{1'b0}}} >> 1;
        end
endmodule

module cell_shift #(parameter L = 1) (
    input clk, input rst, input a_d, input a_c, output y_d, output y_c
);
    reg [L-1:0] data, control;
    assign y_d = data[0];
    assign y_c = control[0];
    always @(posedge clk)
        if (rst) begin
            data <= 0;
            control <= 0;
        end else begin
            data <= {a_d, data} >> 1;
            control <= {a_c, control} >> 1;
        end
endmodule

module cell_hold #(parameter W = 1) (
    input clk, input rst, input a_d, input a_c, input b_c, output reg y_d, output reg y_c, output ready_c
);
    reg [W-1:0] data, control;
    reg going;
    wire go = control[0] & (going | b_c);
    assign ready_c = control[0] & !going;
    always @(posedge clk)
        if (rst) begin
            {y_d, y_c, going} <= 3'b000;
            data <= 0;
            control <= 0;
        end else begin
            going <= go;
            y_d <= go & data[0];
            y_c <= go;
            if (go | !control[0]) begin
                data <= {a_d, data} >> 1;
                control <= {a_c, control} >> 1;
            end
        end
endmodule

module cell_last_of #(parameter N = 1, parameter B = 1) (
    input clk, input rst, input [N-1:0] a_c, input [B-1:0] busy_c, output reg y_c
);
    always @(posedge clk)
        y_c <= !rst & ((&a_c & ~|busy_c) | (y_c & |a_c));
endmodule

module cell_pending (input clk, input rst, input a_c, input b_c, output reg y_c);
    reg previous;
    always @(posedge clk)
        if (rst)
            {y_c, previous} <= 2'b00;
        else begin
            previous <= b_c;
            y_c <= (y_c | a_c | b_c) & !(previous & !b_c);
        end
endmodule

module cell_get (
    input clk, input rst, input a_c, input b_d, input b_c,
    output reg y_d, output reg y_c, output reg next_c, output reg request_c
);
    reg waiting;
    wire last = y_c & !b_c;
    always @(posedge clk)
        if (rst) begin
            {y_d, y_c, next_c, request_c, waiting} <= 5'b00000;
        end else begin
            y_d <= waiting & b_c & b_d;
            y_c <= waiting & b_c;
            next_c <= last;
            request_c <= a_c;
            waiting <= a_c | (waiting & !last);
        end
endmodule

module cell_put (
    input clk, input rst, input a_d, input a_c, input b_c, output reg y_d, output reg y_c, output reg next_c
);
    reg waiting;
    always @(posedge clk)
        if (rst) begin
            {y_d, y_c, next_c, waiting} <= 4'b0000;
        end else begin
            y_d <= a_d;
            y_c <= a_c;
            next_c <= waiting & b_c;
            waiting <= (waiting | a_c) & !b_c;
        end
endmodule

module cell_send (
    input clk, input rst, input a_d, input a_c, output reg y_d, output reg y_c, output reg next_c
);
    always @(posedge clk) begin
        y_d <= !rst & a_d;
        y_c <= !rst & a_c;
        next_c <= !rst & y_c & !a_c;
    end
endmodule

module cell_probe (input clk, input rst, input a_c, input b_c, output reg y_d, output reg y_c, output next_c);
    assign next_c = y_c;
    always @(posedge clk) begin
        y_d <= !rst & a_c & b_c;
        y_c <= !rst & a_c;
    end
endmodule
