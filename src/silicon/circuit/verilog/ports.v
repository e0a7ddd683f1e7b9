// The cells of ports. Words to put come on one of several nets, and requests likewise: the chip
// joins them with an or. The word that is got goes to all that may have asked.

// One end puts, the other one gets: with room for BUFFER words, or, without, both at once. A port at
// the chip's edge has OUTSIDE set: the pads take the place of the getting end.
module cell_port #(parameter W = 1, parameter BUFFER = 0, parameter OUTSIDE = 0) (
    input clk, input rst,
    input put_d, input put_c, input request_c,
    output reg y_d, output reg y_c, output reg done_c, output available_c, output wanted_c,
    output pad_data, output pad_control, input pad_want
);
    localparam ROOM = BUFFER > 0 ? BUFFER : 1;
    reg [W-1:0] taken, live_taken, given, live_given;
    reg [W*ROOM-1:0] words;
    reg [ROOM:0] filled; // one more bit than words: as many ones as there are words
    reg asked;
    wire full = live_taken[0];
    wire there = BUFFER > 0 ? filled[0] : full;
    wire load = asked & there & !live_given[0] & !y_c;
    wire push = BUFFER > 0 & full & !filled[ROOM-1];
    wire pop = load & BUFFER > 0;
    wire [W-1:0] next = BUFFER > 0 ? words[W-1:0] : taken;
    wire leave = push | (load & BUFFER == 0);
    integer i;
    assign available_c = full | filled[0];
    assign wanted_c = asked;
    assign pad_data = y_d;
    assign pad_control = y_c;
    always @(posedge clk)
        if (rst) begin
            {y_d, y_c, done_c, asked} <= 4'b0000;
            taken <= 0;
            live_taken <= 0;
            given <= 0;
            live_given <= 0;
            words <= 0;
            filled <= 0;
        end else begin
            done_c <= leave;
            asked <= OUTSIDE ? pad_want : (asked & !load) | request_c;
            if (leave)
                live_taken <= 0;
            else if (!full) begin
                taken <= {put_d, taken} >> 1;
                live_taken <= {put_c, live_taken} >> 1;
            end
            y_d <= load ? next[0] : given[0] & live_given[0];
            y_c <= load | live_given[0];
            given <= (load ? next : given) >> 1;
            live_given <= load ? {W{1'b1}} >> 1 : live_given >> 1;
            // The oldest word is at the low end. A push goes to the first free place, which a pop
            // at the same time has moved.
            if (pop) begin
                words <= words >> W;
                filled <= filled >> 1;
            end
            if (push) begin
                filled <= pop ? filled : {filled, 1'b1};
                for (i = 0; i < ROOM; i = i + 1)
                    if ((pop ? filled[i] & !filled[i+1] : !filled[i] & (i == 0 || filled[(i == 0) ? 0 : i-1])))
                        words[i*W +: W] <= taken;
            end
        end
endmodule

// The chip asks for a word with a pulse, and it enters on the pads.
module cell_serial_in (
    input clk, input rst, input request_c,
    output reg y_d, output reg y_c, output reg available_c,
    input pad_data, input pad_control, input pad_ready, output reg pad_take
);
    always @(posedge clk) begin
        y_d <= !rst & pad_data & pad_control;
        y_c <= !rst & pad_control;
        available_c <= !rst & pad_ready;
        pad_take <= !rst & request_c;
    end
endmodule

// Pads for each bit: a request samples them, a word drives them.
module cell_parallel #(parameter W = 1) (
    input clk, input rst,
    input put_d, input put_c, input request_c,
    output reg y_d, output reg y_c, output reg done_c, output reg available_c,
    input [W-1:0] pad_in, input pad_ready, output reg pad_take,
    output reg [W-1:0] pad_out, output reg pad_drive, output reg pad_strobe
);
    reg [W-1:0] taken, live_taken, given, live_given;
    reg asked;
    wire full = live_taken[0];
    wire load = asked & pad_ready & !live_given[0] & !y_c;
    always @(posedge clk)
        if (rst) begin
            {y_d, y_c, done_c, available_c, pad_take, pad_drive, pad_strobe, asked} <= 8'h00;
            taken <= 0;
            live_taken <= 0;
            given <= 0;
            live_given <= 0;
            pad_out <= 0;
        end else begin
            available_c <= pad_ready;
            asked <= (asked & !load) | request_c;
            pad_take <= load;
            y_d <= load ? pad_in[0] : given[0] & live_given[0];
            y_c <= load | live_given[0];
            given <= (load ? pad_in : given) >> 1;
            live_given <= load ? {W{1'b1}} >> 1 : live_given >> 1;
            done_c <= full;
            pad_strobe <= full;
            if (full) begin
                live_taken <= 0;
                pad_out <= taken;
            end else begin
                taken <= {put_d, taken} >> 1;
                live_taken <= {put_c, live_taken} >> 1;
            end
            pad_drive <= full | (pad_drive & !request_c);
        end
endmodule

// Words leave at any time.
module cell_sync_out (
    input clk, input rst, input put_d, input put_c, output reg pad_data, output reg pad_control
);
    always @(posedge clk) begin
        pad_data <= !rst & put_d;
        pad_control <= !rst & put_c;
    end
endmodule

module cell_fetch (
    input clk, input rst, input a_d, input a_c, input b_d, input b_c,
    output reg y_d, output reg y_c, output reg next_c, output reg address_d, output reg address_c
);
    reg waiting;
    wire last = y_c & !b_c;
    always @(posedge clk)
        if (rst) begin
            {y_d, y_c, next_c, address_d, address_c, waiting} <= 6'b000000;
        end else begin
            y_d <= waiting & b_c & b_d;
            y_c <= waiting & b_c;
            next_c <= last;
            address_d <= a_d;
            address_c <= a_c;
            waiting <= a_c | (waiting & !last);
        end
endmodule

module cell_store (
    input clk, input rst, input a_d, input a_c, input b_d, input b_c,
    output reg address_d, output reg address_c, output reg y_d, output reg y_c, output reg next_c
);
    always @(posedge clk) begin
        address_d <= !rst & a_d;
        address_c <= !rst & a_c;
        y_d <= !rst & b_d;
        y_c <= !rst & b_c;
        next_c <= !rst & (address_c | y_c) & !(a_c | b_c);
    end
endmodule

// N words, and P ports that take addresses and words serially.
module cell_memory #(parameter W = 1, parameter A = 1, parameter N = 2, parameter P = 1, parameter [W*N-1:0] START = 0) (
    input clk, input rst,
    input [P-1:0] fetch_d, input [P-1:0] fetch_c,
    input [P-1:0] store_d, input [P-1:0] store_c, input [P-1:0] word_d, input [P-1:0] word_c,
    output [P-1:0] y_d, output [P-1:0] y_c
);
    reg [W-1:0] words [0:N-1];
    integer i;
    initial for (i = 0; i < N; i = i + 1) words[i] = START[i*W +: W];
    genvar p;
    generate
        for (p = 0; p < P; p = p + 1) begin : port
            reg [A-1:0] from, from_live, to, to_live;
            reg [W-1:0] word, word_live, given, given_live;
            reg out_d, out_c;
            wire stored = to_live[0] & word_live[0];
            wire [W-1:0] read = ({1'b0, from} < N) ? words[from] : {W{1'b0}};
            assign y_d[p] = out_d;
            assign y_c[p] = out_c;
            always @(posedge clk)
                if (rst) begin
                    {out_d, out_c} <= 2'b00;
                    from_live <= 0;
                    to_live <= 0;
                    word_live <= 0;
                    given_live <= 0;
                    from <= 0;
                    to <= 0;
                    word <= 0;
                    given <= 0;
                end else begin
                    from <= {fetch_d[p], from} >> 1;
                    from_live <= from_live[0] ? 0 : {fetch_c[p], from_live} >> 1;
                    out_d <= from_live[0] ? read[0] : given[0] & given_live[0];
                    out_c <= from_live[0] | given_live[0];
                    given <= (from_live[0] ? read : given) >> 1;
                    given_live <= (from_live[0] ? {W{1'b1}} : given_live) >> 1;
                    if (!to_live[0]) begin
                        to <= {store_d[p], to} >> 1;
                        to_live <= {store_c[p], to_live} >> 1;
                    end
                    if (!word_live[0]) begin
                        word <= {word_d[p], word} >> 1;
                        word_live <= {word_c[p], word_live} >> 1;
                    end
                    if (stored) begin
                        to_live <= 0;
                        word_live <= 0;
                        if ({1'b0, to} < N) words[to] <= word;
                    end
                end
        end
    endgenerate
endmodule
